#include "import/Arguments.h"

#include "dialect/Dialect.h"
#include "dialect/Types.h"
#include "pt2/Names.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace ingot {

using pt2::Argument;
using pt2::ArgumentKind;

Attribute ArgumentConverter::tagged(StringRef kind, StringRef value) {
  return TaggedAttr::get(builder.getContext(), kind, value);
}

Result<Attribute> ArgumentConverter::convertValue(StringRef name) {
  auto it = scope.find(name);
  if (it == scope.end())
    return corruptError("value '" + name.str() + "' is used before it is defined");
  operands.push_back(it->second);
  return Attribute(ValueRefAttr::get(builder.getContext(), operands.size() - 1));
}

Result<Attribute> ArgumentConverter::convertDict(const pt2::ArgumentDict &dict) {
  NamedAttrList entries;
  for (const auto &[name, argument] : dict) {
    INGOT_TRY(Attribute attribute, convert(argument));
    entries.set(name, attribute);
  }
  return Attribute(entries.getDictionary(builder.getContext()));
}

template <typename List, typename Convert>
Result<Attribute> ArgumentConverter::list(const List &items, Convert convert) {
  SmallVector<Attribute> attributes;
  for (const auto &item : items) {
    INGOT_TRY(Attribute attribute, Result<Attribute>(convert(item)));
    attributes.push_back(attribute);
  }
  return Attribute(builder.getArrayAttr(attributes));
}

template <typename T> Result<Attribute> ArgumentConverter::symbolic(const pt2::SymRef<T> &ref) {
  if (ref.isName())
    return convertValue(ref.name());
  return literal(ref.literal());
}

Result<Attribute> ArgumentConverter::convert(const Argument &argument) {
  auto value = [&](const std::string &name) { return convertValue(name); };
  auto optional = [&](const std::optional<std::string> &name) -> Result<Attribute> {
    return name ? convertValue(*name) : Result<Attribute>(builder.getUnitAttr());
  };
  auto integerRef = [&](const pt2::SymIntRef &ref) { return symbolic(ref); };
  auto numberRef = [&](const pt2::SymFloatRef &ref) { return symbolic(ref); };
  auto booleanRef = [&](const pt2::SymBoolRef &ref) { return symbolic(ref); };
  switch (argument.kind) {
  case ArgumentKind::Tensor:
    return convertValue(argument.asTensor());
  case ArgumentKind::Tensors:
    return list(argument.asTensors(), value);
  case ArgumentKind::OptionalTensor:
    return optional(argument.asOptionalTensor());
  case ArgumentKind::OptionalTensors:
    return list(argument.asOptionalTensors(), optional);
  case ArgumentKind::NestedTensors:
    return list(argument.asNestedTensors(), [&](const auto &items) { return list(items, value); });
  case ArgumentKind::SymInt:
    return symbolic(argument.asSymInt());
  case ArgumentKind::SymInts:
    return list(argument.asSymInts(), integerRef);
  case ArgumentKind::SymFloat:
    return symbolic(argument.asSymFloat());
  case ArgumentKind::SymFloats:
    return list(argument.asSymFloats(), numberRef);
  case ArgumentKind::SymBool:
    return symbolic(argument.asSymBool());
  case ArgumentKind::SymBools:
    return list(argument.asSymBools(), booleanRef);
  case ArgumentKind::Graph:
    if (!argument.asGraph().graph)
      return corruptError("sub-graph '" + argument.asGraph().name + "' is missing");
    graphs.push_back(argument.asGraph().graph.get());
    return Attribute(RegionRefAttr::get(builder.getContext(), graphs.size() - 1));
  case ArgumentKind::Dict:
    return convertDict(argument.asDict());
  default:
    return convertLiteral(argument);
  }
}

Result<Attribute> ArgumentConverter::convertLiteral(const Argument &argument) {
  auto item = [&](auto value) { return literal(value); };
  auto items = [&](const auto &values) { return list(values, item); };
  switch (argument.kind) {
  case ArgumentKind::None:
    return Attribute(builder.getUnitAttr());
  case ArgumentKind::Int:
    return literal(argument.asInt());
  case ArgumentKind::Ints:
    return items(argument.asInts());
  case ArgumentKind::IntLists:
    return list(argument.asIntLists(), items);
  case ArgumentKind::UInt64:
    return Attribute(
        builder.getIntegerAttr(builder.getIntegerType(64, /*isSigned=*/false), APInt(64, argument.asUInt64())));
  case ArgumentKind::Float:
    return literal(argument.asFloat());
  case ArgumentKind::Floats:
    return items(argument.asFloats());
  case ArgumentKind::FloatLists:
    return list(argument.asFloatLists(), items);
  case ArgumentKind::Complex:
    return Attribute(complexAttr(argument.asComplex()));
  case ArgumentKind::Bool:
    return literal(argument.asBool());
  case ArgumentKind::Bools:
    return items(argument.asBools());
  case ArgumentKind::String:
    return Attribute(builder.getStringAttr(argument.asString()));
  case ArgumentKind::Strings:
    return list(argument.asStrings(),
                [&](const std::string &text) -> Attribute { return builder.getStringAttr(text); });
  default:
    return convertTagged(argument);
  }
}

Attribute ArgumentConverter::complexAttr(std::complex<double> number) {
  // Written with all digits, so that no double changes on the way.
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g,%.17g", number.real(), number.imag());
  return tagged("complex", text);
}

Result<Attribute> ArgumentConverter::convertTagged(const Argument &argument) {
  switch (argument.kind) {
  case ArgumentKind::ScalarType:
    return Attribute(TypeAttr::get(typeOfDType(argument.asScalarType(), builder.getContext())));
  case ArgumentKind::MemoryFormat:
    return tagged("memory_format", pt2::memoryFormatName(argument.asMemoryFormat()));
  case ArgumentKind::Layout:
    return tagged("layout", pt2::layoutName(argument.asLayout()));
  case ArgumentKind::Device:
    return tagged("device", pt2::deviceText(argument.asDevice()));
  case ArgumentKind::CustomObj:
    return tagged("custom_obj", argument.asCustomObj().name);
  case ArgumentKind::Operator:
    return tagged("operator", argument.asOperator());
  default:
    return internalError("an argument of kind " + std::string(argumentKindName(argument.kind)) + " cannot be imported");
  }
}

/// One number as a list of as many as `type` asks for, 1 when it does not say.
static Argument repeated(const Argument &argument, const pt2::SchemaType &type) {
  size_t count = type.listLength().value_or(1);
  switch (argument.kind) {
  case ArgumentKind::Int:
    return Argument::makeInts(std::vector<int64_t>(count, argument.asInt()));
  case ArgumentKind::Float:
    return Argument::makeFloats(std::vector<double>(count, argument.asFloat()));
  case ArgumentKind::SymInt:
    return Argument::makeSymInts(std::vector<pt2::SymIntRef>(count, argument.asSymInt()));
  default:
    return argument;
  }
}

Argument coerce(const Argument &argument, const pt2::SchemaType &type) {
  if (type.isList() && !argument.isNone()) {
    Argument items = repeated(argument, type);
    if (type.base == pt2::TypeKind::Float && items.is(ArgumentKind::Ints))
      return Argument::makeFloats({items.asInts().begin(), items.asInts().end()});
    return items;
  }
  if (type.base == pt2::TypeKind::Float && argument.is(ArgumentKind::Int))
    return Argument::makeFloat(static_cast<double>(argument.asInt()));
  return argument;
}

} // namespace ingot
