#include "import/Carrier.h"

#include "import/Arguments.h"
#include "pt2/Schema.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace ingot {

TargetName::TargetName(StringRef target) {
  size_t start = target.find("::");
  size_t dot = target.find('.', start == StringRef::npos ? 0 : start);
  name = target.substr(0, dot);
  overload = dot == StringRef::npos ? StringRef() : target.substr(dot + 1);
}

std::optional<unsigned> operandNumberOf(AtenOp op, StringRef name) {
  if (auto reference = op.getArgs().getAs<ValueRefAttr>(name))
    return reference.getIndex();
  return std::nullopt;
}

Value operandOf(AtenOp op, StringRef name) {
  std::optional<unsigned> number = operandNumberOf(op, name);
  return number ? op.getValues()[*number] : Value();
}

std::optional<int64_t> integerOf(AtenOp op, StringRef name) {
  auto literal = op.getArgs().getAs<IntegerAttr>(name);
  if (!literal || !literal.getType().isSignlessInteger(64))
    return std::nullopt;
  return literal.getInt();
}

std::optional<bool> booleanOf(AtenOp op, StringRef name) {
  if (auto literal = op.getArgs().getAs<BoolAttr>(name))
    return literal.getValue();
  return std::nullopt;
}

Attribute CarrierBuilder::reference(Value value) {
  operands.push_back(value);
  return ValueRefAttr::get(builder.getContext(), operands.size() - 1);
}

CarrierBuilder &CarrierBuilder::arg(StringRef name, Value value) {
  args.set(name, reference(value));
  return *this;
}

CarrierBuilder &CarrierBuilder::arg(StringRef name, Attribute literal) {
  args.set(name, literal);
  return *this;
}

CarrierBuilder &CarrierBuilder::arg(StringRef name, int64_t literal) {
  return arg(name, builder.getI64IntegerAttr(literal));
}

CarrierBuilder &CarrierBuilder::arg(StringRef name, ArrayRef<OpFoldResult> list) {
  SmallVector<Attribute> entries;
  for (OpFoldResult entry : list)
    entries.push_back(isa<Value>(entry) ? reference(cast<Value>(entry)) : cast<Attribute>(entry));
  return arg(name, builder.getArrayAttr(entries));
}

CarrierBuilder &CarrierBuilder::copy(AtenOp from, StringRef name) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](ValueRefAttr ref) -> std::optional<std::pair<Attribute, WalkResult>> {
    return std::pair(reference(from.getValues()[ref.getIndex()]), WalkResult::skip());
  });
  if (Attribute value = from.getArgs().get(name))
    args.set(name, replacer.replace(value));
  return *this;
}

AtenOp CarrierBuilder::create(TypeRange results) {
  if (const pt2::OpSchema *schema = pt2::findSchema(target)) {
    Scope nothing;
    ArgumentConverter converter(builder, nothing);
    for (const pt2::SchemaArgument &argument : schema->arguments) {
      if (args.get(argument.name) || !argument.defaultValue)
        continue;
      // Defaults are literals, so their conversion cannot fail.
      if (Result<Attribute> value = converter.convert(*argument.defaultValue))
        args.set(argument.name, *value);
    }
  }
  return builder.create<AtenOp>(location, results, target, operands, args.getDictionary(builder.getContext()), 0);
}

} // namespace ingot
