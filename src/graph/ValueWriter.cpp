#include "graph/OpNames.h"
#include "graph/Values.h"
#include "pt2/Names.h"

#include <cmath>

namespace ingot::graph {

using pt2::Argument;
using pt2::ArgumentKind;

namespace {

Json tag(const char *name, Json value) {
  Json object = Json::object();
  object[name] = std::move(value);
  return object;
}

Json number(double value) {
  if (std::isfinite(value))
    return value;
  return tag("$float", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

Json symbol(const std::string &name) { return tag("$symbol", name); }

Json item(int64_t value) { return value; }
Json item(double value) { return number(value); }
Json item(bool value) { return value; }
Json item(const std::string &value) { return value; }
template <typename T> Json item(const pt2::SymRef<T> &ref) {
  return ref.isName() ? symbol(ref.name()) : item(ref.literal());
}
Json item(const std::optional<std::string> &name) { return name ? Json(*name) : Json(nullptr); }

template <typename T> Json items(const std::vector<T> &values) {
  Json list = Json::array();
  for (const auto &value : values)
    list.push_back(item(static_cast<const T &>(value)));
  return list;
}

template <typename T> Json lists(const std::vector<std::vector<T>> &values) {
  Json list = Json::array();
  for (const std::vector<T> &value : values)
    list.push_back(items(value));
  return list;
}

/// Names of tensors that stand inside a value.
Json marked(const Json &names) {
  if (names.is_string())
    return tag("$tensor", names);
  if (!names.is_array())
    return names;
  Json list = Json::array();
  for (const Json &name : names)
    list.push_back(marked(name));
  return list;
}

/// The record of a reference to a scalar, or of a literal that stands where one could.
template <typename T> ArgumentRecord scalarRecord(const pt2::SymRef<T> &ref) {
  if (ref.isName())
    return {"", "symbol", ref.name()};
  return {"", "value", item(ref.literal())};
}

} // namespace

Json ValueWriter::dictionary(const pt2::ArgumentDict &dict) const {
  Json object = Json::object();
  for (const auto &[key, argument] : dict)
    object[key] = value(argument);
  return tag("$dict", std::move(object));
}

Json ValueWriter::tagged(const Argument &argument) const {
  switch (argument.kind) {
  case ArgumentKind::Complex:
    return tag("$complex", Json::array({number(argument.asComplex().real()), number(argument.asComplex().imag())}));
  case ArgumentKind::ScalarType:
    return tag("$dtype", dtypeName(argument.asScalarType()));
  case ArgumentKind::MemoryFormat:
    return tag("$memory_format", pt2::memoryFormatName(argument.asMemoryFormat()));
  case ArgumentKind::Layout:
    return tag("$layout", pt2::layoutName(argument.asLayout()));
  case ArgumentKind::Device:
    return tag("$device", pt2::deviceText(argument.asDevice()));
  case ArgumentKind::CustomObj:
    return tag("$object", Json::array({argument.asCustomObj().name, argument.asCustomObj().className}));
  case ArgumentKind::Operator:
    return tag("$operator", opTypeOfTarget(argument.asOperator()));
  case ArgumentKind::Dict:
    return dictionary(argument.asDict());
  case ArgumentKind::Graph:
    return tag("$graph", addBody ? addBody(argument.asGraph()) : argument.asGraph().name);
  default:
    return nullptr;
  }
}

Json ValueWriter::value(const Argument &argument) const {
  switch (argument.kind) {
  case ArgumentKind::Int:
    return argument.asInt();
  case ArgumentKind::UInt64:
    return argument.asUInt64();
  case ArgumentKind::Float:
    return number(argument.asFloat());
  case ArgumentKind::Bool:
    return argument.asBool();
  case ArgumentKind::String:
    return argument.asString();
  case ArgumentKind::Ints:
    return items(argument.asInts());
  case ArgumentKind::IntLists:
    return lists(argument.asIntLists());
  case ArgumentKind::Floats:
    return items(argument.asFloats());
  case ArgumentKind::FloatLists:
    return lists(argument.asFloatLists());
  case ArgumentKind::Bools:
    return items(argument.asBools());
  case ArgumentKind::Strings:
    return items(argument.asStrings());
  case ArgumentKind::SymInt:
    return item(argument.asSymInt());
  case ArgumentKind::SymFloat:
    return item(argument.asSymFloat());
  case ArgumentKind::SymBool:
    return item(argument.asSymBool());
  case ArgumentKind::SymInts:
    return items(argument.asSymInts());
  case ArgumentKind::SymFloats:
    return items(argument.asSymFloats());
  case ArgumentKind::SymBools:
    return items(argument.asSymBools());
  case ArgumentKind::Tensor:
  case ArgumentKind::Tensors:
  case ArgumentKind::OptionalTensor:
  case ArgumentKind::OptionalTensors:
  case ArgumentKind::NestedTensors:
    return marked(record(argument).value);
  default:
    return tagged(argument);
  }
}

ArgumentRecord ValueWriter::record(const Argument &argument) const {
  switch (argument.kind) {
  case ArgumentKind::Tensor:
    return {"", "tensor", argument.asTensor()};
  case ArgumentKind::OptionalTensor:
    return {"", argument.asOptionalTensor() ? "tensor" : "value", item(argument.asOptionalTensor())};
  case ArgumentKind::Tensors:
    return {"", "tensors", items(argument.asTensors())};
  case ArgumentKind::OptionalTensors:
    return {"", "tensors", items(argument.asOptionalTensors())};
  case ArgumentKind::NestedTensors:
    return {"", "tensors", lists(argument.asNestedTensors())};
  case ArgumentKind::SymInt:
    return scalarRecord(argument.asSymInt());
  case ArgumentKind::SymFloat:
    return scalarRecord(argument.asSymFloat());
  case ArgumentKind::SymBool:
    return scalarRecord(argument.asSymBool());
  case ArgumentKind::Graph:
    return {"", "graph", addBody ? addBody(argument.asGraph()) : argument.asGraph().name};
  default:
    return {"", "value", value(argument)};
  }
}

} // namespace ingot::graph
