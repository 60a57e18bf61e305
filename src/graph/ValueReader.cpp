#include "graph/OpNames.h"
#include "graph/Values.h"
#include "pt2/Names.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ingot::graph {

using pt2::Argument;
using pt2::ArgumentKind;
using pt2::TypeKind;

namespace {

constexpr size_t kMostText = 80;

std::string shown(const Json &json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > kMostText ? text.substr(0, kMostText) + "…" : text;
}

std::string_view withoutTorch(std::string_view name) {
  constexpr std::string_view prefix = "torch.";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::optional<pt2::MemoryFormat> memoryFormatFromName(std::string_view name) {
  using pt2::MemoryFormat;
  constexpr std::pair<std::string_view, MemoryFormat> rows[] = {
      {"contiguous_format", MemoryFormat::Contiguous},
      {"channels_last", MemoryFormat::ChannelsLast},
      {"channels_last_3d", MemoryFormat::ChannelsLast3d},
      {"preserve_format", MemoryFormat::Preserve},
  };
  for (const auto &[known, format] : rows)
    if (known == withoutTorch(name))
      return format;
  return std::nullopt;
}

std::optional<double> specialFloat(const std::string &text) {
  if (text == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf" || text == "-inf")
    return (text == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
  return std::nullopt;
}

bool isTagged(const Json &json, const char *tag) { return json.is_object() && json.size() == 1 && json.contains(tag); }

/// A number, or a special one; nullopt for anything else.
std::optional<double> numberOf(const Json &json) {
  if (json.is_number())
    return json.get<double>();
  if (isTagged(json, "$float") && json["$float"].is_string())
    return specialFloat(json["$float"].get<std::string>());
  return std::nullopt;
}

bool isInteger(const Json &json) {
  return json.is_number_integer() &&
         !(json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()));
}

template <typename Test> bool all(const Json &list, Test test) { return std::all_of(list.begin(), list.end(), test); }
template <typename Test> bool any(const Json &list, Test test) { return std::any_of(list.begin(), list.end(), test); }

template <typename T> std::vector<T> collect(const Json &list) {
  std::vector<T> values;
  for (const Json &item : list)
    values.push_back(item.get<T>());
  return values;
}

std::vector<double> numbers(const Json &list) {
  std::vector<double> values;
  for (const Json &item : list)
    values.push_back(*numberOf(item));
  return values;
}

Argument emptyList(const pt2::SchemaType *type) {
  switch (type ? type->base : TypeKind::Int) {
  case TypeKind::Tensor:
    return Argument::makeTensors();
  case TypeKind::Float:
    return Argument::makeFloats();
  case TypeKind::Bool:
    return Argument::makeBools();
  case TypeKind::String:
    return Argument::makeStrings();
  default:
    return Argument::makeInts();
  }
}

/// A list whose items are all of one plain kind; nullopt for others.
std::optional<Argument> plainList(const Json &list) {
  if (all(list, isInteger))
    return Argument::makeInts(collect<int64_t>(list));
  if (all(list, [](const Json &item) { return numberOf(item).has_value(); }))
    return Argument::makeFloats(numbers(list));
  if (all(list, [](const Json &item) { return item.is_boolean(); }))
    return Argument::makeBools(collect<bool>(list));
  if (all(list, [](const Json &item) { return item.is_string(); }))
    return Argument::makeStrings(collect<std::string>(list));
  return std::nullopt;
}

/// A list of lists of numbers.
Result<Argument> nestedNumbers(const Json &json) {
  auto isIntegers = [](const Json &inner) { return all(inner, isInteger); };
  if (all(json, isIntegers)) {
    std::vector<std::vector<int64_t>> lists;
    for (const Json &inner : json)
      lists.push_back(collect<int64_t>(inner));
    return Argument::makeIntLists(std::move(lists));
  }
  std::vector<std::vector<double>> lists;
  for (const Json &inner : json) {
    if (!all(inner, [](const Json &item) { return numberOf(item).has_value(); }))
      return corruptError("cannot read the list " + shown(json));
    lists.push_back(numbers(inner));
  }
  return Argument::makeFloatLists(std::move(lists));
}

template <typename T> std::optional<pt2::SymRef<T>> refOf(const Json &item, const Result<Argument> &value) {
  if (!value)
    return std::nullopt;
  if constexpr (std::is_same_v<T, bool>) {
    if (value->is(ArgumentKind::SymBool))
      return value->asSymBool();
    return item.is_boolean() ? std::optional(pt2::SymRef<T>(item.get<bool>())) : std::nullopt;
  } else if constexpr (std::is_same_v<T, double>) {
    if (value->is(ArgumentKind::SymFloat))
      return value->asSymFloat();
    std::optional<double> number = numberOf(item);
    return number ? std::optional(pt2::SymRef<T>(*number)) : std::nullopt;
  } else {
    if (value->is(ArgumentKind::SymInt))
      return value->asSymInt();
    return isInteger(item) ? std::optional(pt2::SymRef<T>(item.get<int64_t>())) : std::nullopt;
  }
}

/// All items as references or literals of one type; nullopt if some is of another.
template <typename T> std::optional<std::vector<pt2::SymRef<T>>> refs(const Json &list, const ValueReader &reader) {
  std::vector<pt2::SymRef<T>> values;
  for (const Json &item : list) {
    std::optional<pt2::SymRef<T>> ref = refOf<T>(item, reader.value(item));
    if (!ref)
      return std::nullopt;
    values.push_back(std::move(*ref));
  }
  return values;
}

Result<Argument> symbolicList(const Json &list, const ValueReader &reader) {
  if (auto values = refs<int64_t>(list, reader))
    return Argument::makeSymInts(std::move(*values));
  if (auto values = refs<double>(list, reader))
    return Argument::makeSymFloats(std::move(*values));
  if (auto values = refs<bool>(list, reader))
    return Argument::makeSymBools(std::move(*values));
  return corruptError("cannot read the list " + shown(list));
}

} // namespace

pt2::Device deviceFromText(std::string_view text) {
  size_t colon = text.find(':');
  pt2::Device device{std::string(text.substr(0, colon)), std::nullopt};
  int64_t index = 0;
  if (colon == text.npos)
    return device;
  std::string_view digits = text.substr(colon + 1);
  auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (failure == std::errc() && end == digits.data() + digits.size())
    device.index = index;
  return device;
}

std::optional<pt2::Layout> layoutFromName(std::string_view name) {
  for (int code = 1; code <= static_cast<int>(pt2::Layout::Strided); ++code)
    if (pt2::layoutName(static_cast<pt2::Layout>(code)) == withoutTorch(name))
      return static_cast<pt2::Layout>(code);
  return std::nullopt;
}

std::optional<DType> dtypeFromText(std::string_view text) { return dtypeFromName(withoutTorch(text)); }

Result<Argument> ValueReader::tensor(const Json &json) const {
  if (!json.is_string())
    return corruptError("a tensor is given as " + shown(json) + ", not by its name");
  return names.value(json.get<std::string>());
}

Result<Argument> ValueReader::tensors(const Json &json) const {
  if (!json.is_array())
    return corruptError("a list of tensors is given as " + shown(json));
  bool isNested = any(json, [](const Json &item) { return item.is_array(); });
  std::vector<std::optional<std::string>> flat;
  std::vector<std::vector<std::string>> nested;
  for (const Json &item : json) {
    if (isNested) {
      INGOT_TRY(Argument inner,
                item.is_array() ? tensors(item) : Result<Argument>(corruptError("a list mixes tensors and lists")));
      if (!inner.is(ArgumentKind::Tensors))
        return unsupportedError("lists of tensors are nested too deeply");
      nested.push_back(inner.asTensors());
    } else if (item.is_null()) {
      flat.emplace_back();
    } else {
      INGOT_TRY(Argument value, tensor(item));
      if (!value.is(ArgumentKind::Tensor))
        return corruptError("'" + item.get<std::string>() + "' in a list of tensors is none");
      flat.emplace_back(value.asTensor());
    }
  }
  if (isNested)
    return Argument::makeNestedTensors(std::move(nested));
  if (std::ranges::any_of(flat, [](const auto &name) { return !name; }))
    return Argument::makeOptionalTensors(std::move(flat));
  std::vector<std::string> plain;
  for (std::optional<std::string> &name : flat)
    plain.push_back(std::move(*name));
  return Argument::makeTensors(std::move(plain));
}

Result<Argument> ValueReader::record(const ArgumentRecord &record, const pt2::SchemaType *type) const {
  if (record.kind == "tensor" || record.kind == "symbol")
    return tensor(record.value);
  if (record.kind == "tensors")
    return tensors(record.value);
  if (record.kind == "graph") {
    if (!record.value.is_string())
      return corruptError("a sub-graph is given as " + shown(record.value) + ", not by its name");
    INGOT_TRY(pt2::SubGraph body, names.body(record.value.get<std::string>()));
    return Argument::makeGraph(std::move(body));
  }
  if (record.kind == "value" || record.kind == "default")
    return value(record.value, type);
  return corruptError("there is no kind '" + record.kind + "' of arguments");
}

Result<Argument> ValueReader::value(const Json &json, const pt2::SchemaType *type) const {
  if (json.is_null())
    return Argument::makeNone();
  if (json.is_boolean())
    return Argument::makeBool(json.get<bool>());
  if (isInteger(json))
    return Argument::makeInt(json.get<int64_t>());
  if (json.is_number_unsigned())
    return Argument::makeUInt64(json.get<uint64_t>());
  if (json.is_number())
    return Argument::makeFloat(json.get<double>());
  if (json.is_string())
    return text(json.get<std::string>(), type);
  if (json.is_array())
    return list(json, type);
  if (json.is_object() && json.size() == 1)
    return tagged(json.begin().key(), json.begin().value());
  return corruptError("cannot read the value " + shown(json));
}

Result<Argument> ValueReader::text(const std::string &text, const pt2::SchemaType *type) const {
  switch (type ? type->base : TypeKind::String) {
  case TypeKind::ScalarType:
    return taggedText("$dtype", text);
  case TypeKind::Layout:
    return taggedText("$layout", text);
  case TypeKind::MemoryFormat:
    return taggedText("$memory_format", text);
  case TypeKind::Device:
    return taggedText("$device", text);
  default:
    return Argument::makeString(text);
  }
}

Result<Argument> ValueReader::list(const Json &json, const pt2::SchemaType *type) const {
  if (json.empty())
    return emptyList(type);
  if (std::optional<Argument> plain = plainList(json))
    return std::move(*plain);
  auto isTensor = [](const Json &item) { return isTagged(item, "$tensor"); };
  if (any(json, isTensor)) {
    Json bare = Json::array();
    for (const Json &item : json)
      bare.push_back(isTensor(item) ? item["$tensor"] : item);
    return tensors(bare);
  }
  if (all(json, [](const Json &item) { return item.is_array(); }))
    return nestedNumbers(json);
  return symbolicList(json, *this);
}

Result<Argument> ValueReader::tagged(const std::string &tag, const Json &json) const {
  if (tag == "$dict" && json.is_object()) {
    pt2::ArgumentDict dict;
    for (const auto &[key, item] : json.items()) {
      INGOT_TRY(Argument argument, value(item));
      dict.emplace_back(key, std::move(argument));
    }
    return Argument::makeDict(std::move(dict));
  }
  if (tag == "$complex" && json.is_array() && json.size() == 2) {
    std::optional<double> real = numberOf(json[0]), imaginary = numberOf(json[1]);
    if (real && imaginary)
      return Argument::makeComplex({*real, *imaginary});
  }
  if (tag == "$object" && json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string())
    return Argument::makeCustomObj({json[0].get<std::string>(), json[1].get<std::string>()});
  if (!json.is_string())
    return corruptError("cannot read the value {\"" + tag + "\": " + shown(json) + "}");
  return taggedText(tag, json.get<std::string>());
}

Result<Argument> ValueReader::taggedText(const std::string &tag, const std::string &text) const {
  if (tag == "$dtype")
    if (std::optional<DType> dtype = dtypeFromText(text))
      return Argument::makeScalarType(*dtype);
  if (tag == "$layout")
    if (std::optional<pt2::Layout> layout = layoutFromName(text))
      return Argument::makeLayout(*layout);
  if (tag == "$memory_format")
    if (std::optional<pt2::MemoryFormat> format = memoryFormatFromName(text))
      return Argument::makeMemoryFormat(*format);
  if (tag == "$float")
    if (std::optional<double> number = specialFloat(text))
      return Argument::makeFloat(*number);
  if (tag == "$device") // programs that were taken on the meta device run on the CPU
    return Argument::makeDevice(deviceFromText(text == "meta" ? "cpu" : text));
  if (tag == "$operator")
    return Argument::makeOperator(targetOfOpType(text));
  if (tag == "$symbol" || tag == "$tensor")
    return names.value(text);
  if (tag == "$graph") {
    INGOT_TRY(pt2::SubGraph body, names.body(text));
    return Argument::makeGraph(std::move(body));
  }
  return corruptError("cannot read the value {\"" + tag + "\": \"" + text + "\"}");
}

} // namespace ingot::graph
