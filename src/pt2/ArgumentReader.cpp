#include "pt2/ProgramReader.h"

#include <unordered_map>

using namespace ingot;
using namespace ingot::pt2;

namespace {

template <typename T> Result<T> readLiteral(JsonRef json);
template <> Result<int64_t> readLiteral(JsonRef json) { return json.integer(); }
template <> Result<double> readLiteral(JsonRef json) { return json.number(); }
template <> Result<bool> readLiteral(JsonRef json) { return json.boolean(); }

template <typename T> constexpr std::string_view literalMember = "as_int";
template <> constexpr std::string_view literalMember<double> = "as_float";
template <> constexpr std::string_view literalMember<bool> = "as_bool";

Error unknownMember(JsonRef json, std::string_view member) {
  return json.unsupported("has the unknown member '" + std::string(member) +
                          "'; the file comes from a newer torch than this reader knows");
}

Result<SymHint> readHint(JsonRef json) {
  INGOT_TRY(auto only, json.onlyMember());
  auto [member, value] = only;
  if (member == "as_int") {
    // A hint is only an example, so one beyond 64 bits is dropped rather than refused.
    Result<int64_t> hint = value.integer();
    return hint ? SymHint(*hint) : SymHint();
  }
  if (member == "as_float") {
    INGOT_TRY(double hint, value.number());
    return SymHint(hint);
  }
  if (member == "as_bool") {
    INGOT_TRY(bool hint, value.boolean());
    return SymHint(hint);
  }
  return unknownMember(json, member);
}

template <typename T> Result<SymScalar<T>> readSymScalar(JsonRef json) {
  INGOT_TRY(auto only, json.onlyMember());
  auto [member, value] = only;
  if (member == literalMember<T>) {
    INGOT_TRY(T literal, readLiteral<T>(value));
    return SymScalar<T>(literal);
  }
  if (member != "as_expr")
    return unknownMember(json, member);
  SymExprText expr;
  INGOT_TRY(JsonRef text, value.member("expr_str"));
  INGOT_TRY(expr.text, text.string());
  INGOT_TRY(auto hint, value.optionalMember("hint"));
  if (hint) {
    INGOT_TRY(expr.hint, readHint(*hint));
  }
  return SymScalar<T>(std::move(expr));
}

template <typename T> Result<SymRef<T>> readSymRef(JsonRef json) {
  INGOT_TRY(auto only, json.onlyMember());
  auto [member, value] = only;
  if (member == literalMember<T>) {
    INGOT_TRY(T literal, readLiteral<T>(value));
    return SymRef<T>(literal);
  }
  if (member != "as_name")
    return unknownMember(json, member);
  INGOT_TRY(std::string name, value.string());
  return SymRef<T>(std::move(name));
}

Result<DType> readDType(JsonRef json) {
  INGOT_TRY(int64_t code, json.integer());
  std::optional<DType> dtype = dtypeFromPt2(code);
  if (!dtype)
    return json.unsupported("is the unknown element type " + std::to_string(code));
  return *dtype;
}

template <typename Enum> Result<Enum> readEnum(JsonRef json, int64_t last, std::string_view what) {
  INGOT_TRY(int64_t code, json.integer());
  if (code < 0 || code > last)
    return json.unsupported("is the unknown " + std::string(what) + " " + std::to_string(code));
  return static_cast<Enum>(code);
}

Result<pt2::Layout> readLayout(JsonRef json) {
  return readEnum<pt2::Layout>(json, static_cast<int64_t>(Layout::Strided), "layout");
}

Result<pt2::MemoryFormat> readMemoryFormat(JsonRef json) {
  return readEnum<pt2::MemoryFormat>(json, static_cast<int64_t>(MemoryFormat::Preserve), "memory format");
}

Result<pt2::Device> readDevice(JsonRef json) {
  pt2::Device device;
  INGOT_TRY(JsonRef type, json.member("type"));
  INGOT_TRY(device.type, type.string());
  INGOT_TRY(auto index, json.optionalMember("index"));
  if (index) {
    INGOT_TRY(device.index, index->integer());
  }
  return device;
}

Result<std::vector<std::string>> readNames(JsonRef json) { return json.list(readName); }

Result<std::optional<std::string>> readOptionalName(JsonRef json) {
  INGOT_TRY(auto only, json.onlyMember());
  auto [member, value] = only;
  if (member == "as_none")
    return std::optional<std::string>();
  if (member != "as_tensor")
    return unknownMember(json, member);
  INGOT_TRY(std::string name, readName(value));
  return std::optional<std::string>(std::move(name));
}

Result<std::complex<double>> readComplex(JsonRef json) {
  INGOT_TRY(JsonRef realRef, json.member("real"));
  INGOT_TRY(JsonRef imagRef, json.member("imag"));
  INGOT_TRY(double real, realRef.number());
  INGOT_TRY(double imag, imagRef.number());
  return std::complex<double>(real, imag);
}

Result<SubGraph> readSubGraph(JsonRef json, const JsonReadOptions &options) {
  SubGraph sub;
  INGOT_TRY(JsonRef name, json.member("name"));
  INGOT_TRY(sub.name, name.string());
  INGOT_TRY(JsonRef body, json.member("graph"));
  INGOT_TRY(Graph graph, readGraph(body, options));
  sub.graph = std::make_shared<const Graph>(std::move(graph));
  return sub;
}

Result<ArgumentDict> readDict(JsonRef json, const JsonReadOptions &options) {
  ArgumentDict dict;
  INGOT_CHECK(json.forEachMember([&](const std::string &key, JsonRef value) -> Status {
    INGOT_TRY(Argument argument, readArgument(value, options));
    dict.emplace_back(key, std::move(argument));
    return {};
  }));
  return dict;
}

template <typename T> Result<std::vector<T>> readLiterals(JsonRef json) { return json.list(readLiteral<T>); }

// The payload's reader is chosen by kind, since several kinds share a payload type.

template <ArgumentKind kind> auto readSymbolicPayload(JsonRef json) {
  using K = ArgumentKind;
  if constexpr (kind == K::SymInt)
    return readSymRef<int64_t>(json);
  else if constexpr (kind == K::SymInts)
    return json.list(readSymRef<int64_t>);
  else if constexpr (kind == K::SymFloat)
    return readSymRef<double>(json);
  else if constexpr (kind == K::SymFloats)
    return json.list(readSymRef<double>);
  else if constexpr (kind == K::SymBool)
    return readSymRef<bool>(json);
  else if constexpr (kind == K::SymBools)
    return json.list(readSymRef<bool>);
}

template <ArgumentKind kind> auto readTensorPayload(JsonRef json) {
  using K = ArgumentKind;
  if constexpr (kind == K::Tensor)
    return readName(json);
  else if constexpr (kind == K::Tensors)
    return readNames(json);
  else if constexpr (kind == K::OptionalTensor)
    return readOptionalName(json);
  else if constexpr (kind == K::OptionalTensors)
    return json.list(readOptionalName);
  else if constexpr (kind == K::NestedTensors)
    return json.list(readNames);
  else
    return readSymbolicPayload<kind>(json);
}

template <ArgumentKind kind> auto readLiteralPayload(JsonRef json) {
  using K = ArgumentKind;
  if constexpr (kind == K::Int || kind == K::UInt64)
    return json.integer();
  else if constexpr (kind == K::Ints)
    return readLiterals<int64_t>(json);
  else if constexpr (kind == K::IntLists)
    return json.list(readLiterals<int64_t>);
  else if constexpr (kind == K::Float)
    return json.number();
  else if constexpr (kind == K::Floats)
    return readLiterals<double>(json);
  else if constexpr (kind == K::FloatLists)
    return json.list(readLiterals<double>);
  else if constexpr (kind == K::Bool)
    return json.boolean();
  else if constexpr (kind == K::Bools)
    return readLiterals<bool>(json);
  else if constexpr (kind == K::String || kind == K::Operator)
    return json.string();
  else if constexpr (kind == K::Strings)
    return json.list([](JsonRef item) { return item.string(); });
  else if constexpr (kind == K::Complex)
    return readComplex(json);
  else
    return readTensorPayload<kind>(json);
}

template <ArgumentKind kind> auto readPayload(JsonRef json, const JsonReadOptions &options) {
  using K = ArgumentKind;
  if constexpr (kind == K::ScalarType)
    return readDType(json);
  else if constexpr (kind == K::MemoryFormat)
    return readMemoryFormat(json);
  else if constexpr (kind == K::Layout)
    return readLayout(json);
  else if constexpr (kind == K::Device)
    return readDevice(json);
  else if constexpr (kind == K::Graph)
    return readSubGraph(json, options);
  else if constexpr (kind == K::CustomObj)
    return readCustomObj(json);
  else if constexpr (kind == K::Dict)
    return readDict(json, options);
  else
    return readLiteralPayload<kind>(json);
}

using MemberReader = Result<Argument> (*)(JsonRef, const JsonReadOptions &);

template <ArgumentKind kind> Result<Argument> readMember(JsonRef json, const JsonReadOptions &options) {
  if constexpr (kind == ArgumentKind::None) {
    return Argument::makeNone();
  } else {
    if constexpr (kind == ArgumentKind::Int) {
      if (options.clampsIntegers) {
        INGOT_TRY(int64_t clamped, json.clampedInteger());
        return Argument{kind, Argument::Payload(std::in_place_type<int64_t>, clamped)};
      }
      if (std::optional<uint64_t> large = json.largeUnsigned())
        return Argument::makeUInt64(*large);
    }
    auto payload = readPayload<kind>(json, options);
    if (!payload)
      return std::move(payload.error());
    using T = std::decay_t<decltype(*payload)>;
    return Argument{kind, Argument::Payload(std::in_place_type<T>, *std::move(payload))};
  }
}

const std::unordered_map<std::string_view, MemberReader> &memberReaders() {
  static const std::unordered_map<std::string_view, MemberReader> readers = [] {
    std::unordered_map<std::string_view, MemberReader> table = {
#define X(name, member, type) {member, readMember<ArgumentKind::name>},
        INGOT_PT2_ARGUMENTS(X)
#undef X
    };
    // Our own addition to the table, not a member of the file's union.
    table.erase(argumentKindName(ArgumentKind::UInt64));
    return table;
  }();
  return readers;
}

} // namespace

Result<std::string> pt2::readName(JsonRef json) {
  INGOT_TRY(JsonRef name, json.member("name"));
  return name.string();
}

Result<CustomObjRef> pt2::readCustomObj(JsonRef json) {
  CustomObjRef object;
  INGOT_TRY(object.name, readName(json));
  INGOT_TRY(JsonRef className, json.member("class_fqn"));
  INGOT_TRY(object.className, className.string());
  return object;
}

Result<SymInt> pt2::readSymInt(JsonRef json) { return readSymScalar<int64_t>(json); }
Result<SymFloat> pt2::readSymFloat(JsonRef json) { return readSymScalar<double>(json); }
Result<SymBool> pt2::readSymBool(JsonRef json) { return readSymScalar<bool>(json); }

Result<TensorMeta> pt2::readTensorMeta(JsonRef json) {
  TensorMeta meta;
  INGOT_TRY(JsonRef dtype, json.member("dtype"));
  INGOT_TRY(meta.dtype, readDType(dtype));
  INGOT_TRY(JsonRef sizes, json.member("sizes"));
  INGOT_TRY(meta.sizes, sizes.list(readSymInt));
  INGOT_TRY(JsonRef strides, json.member("strides"));
  INGOT_TRY(meta.strides, strides.list(readSymInt));
  if (meta.sizes.size() != meta.strides.size())
    return json.corrupt("has " + std::to_string(meta.sizes.size()) + " sizes but " +
                        std::to_string(meta.strides.size()) + " strides");
  INGOT_TRY(JsonRef offset, json.member("storage_offset"));
  INGOT_TRY(meta.storageOffset, readSymInt(offset));
  INGOT_TRY(JsonRef device, json.member("device"));
  INGOT_TRY(meta.device, readDevice(device));
  INGOT_TRY(JsonRef layout, json.member("layout"));
  INGOT_TRY(meta.layout, readLayout(layout));
  INGOT_TRY(auto requiresGrad, json.optionalMember("requires_grad"));
  if (requiresGrad) {
    INGOT_TRY(meta.requiresGrad, requiresGrad->boolean());
  }
  return meta;
}

Result<Argument> pt2::readArgument(JsonRef json, const JsonReadOptions &options) {
  INGOT_TRY(auto only, json.onlyMember());
  auto [member, value] = only;
  auto reader = memberReaders().find(member);
  if (reader == memberReaders().end())
    return unknownMember(json, member);
  return reader->second(value, options);
}
