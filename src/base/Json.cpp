#include "base/Json.h"

#include <cmath>
#include <limits>

using namespace ingot;
using nlohmann::json;

namespace {

/// Nesting is measured before parsing: later code recurses over the document.
bool isTooDeep(std::string_view text, size_t maxDepth) {
  size_t depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
      continue;
    }
    if (c == '"')
      inString = true;
    else if (c == '[' || c == '{') {
      if (++depth > maxDepth)
        return true;
    } else if ((c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return false;
}

/// The library prefixes its messages with an id in brackets that says nothing to a reader, and quotes the text as it is.
std::string plainMessage(const char *text) {
  std::string_view message = text;
  if (size_t end = message.find("] "); end != message.npos)
    message.remove_prefix(end + 2);
  std::string plain;
  for (char c : message)
    plain += c >= ' ' && c <= '~' ? c : '?';
  return plain;
}

bool isPlainKey(std::string_view key) { return !key.empty() && key.find_first_of(".[]\" ") == key.npos; }

/// Appends the path from `from` to `target`, or leaves `path` alone and returns false.
bool findPath(const json &from, const json *target, std::string &path) {
  if (&from == target)
    return true;
  size_t length = path.size();
  for (auto item = from.begin(); item != from.end() && from.is_structured(); ++item) {
    if (from.is_array())
      path += "[" + std::to_string(item - from.begin()) + "]";
    else if (isPlainKey(item.key()))
      path += (path.empty() ? "" : ".") + item.key();
    else
      path += "[\"" + item.key() + "\"]";
    if (findPath(*item, target, path))
      return true;
    path.resize(length);
  }
  return false;
}

} // namespace

Result<json> ingot::parseJson(std::string_view text, size_t maxDepth) {
  if (isTooDeep(text, maxDepth))
    return corruptError("JSON nested deeper than " + std::to_string(maxDepth) + " levels");
  try {
    return json::parse(text.begin(), text.end());
  } catch (const std::exception &failure) {
    return corruptError("bad JSON: " + plainMessage(failure.what()));
  }
}

Result<JsonRef> JsonRef::member(std::string_view key) const {
  if (!value->is_object())
    return mismatch("an object");
  auto found = value->find(key);
  if (found == value->end())
    return corrupt("lacks the member '" + std::string(key) + "'");
  return JsonRef(root, &*found);
}

Result<std::optional<JsonRef>> JsonRef::optionalMember(std::string_view key) const {
  if (!value->is_object())
    return mismatch("an object");
  auto found = value->find(key);
  if (found == value->end() || found->is_null())
    return std::optional<JsonRef>();
  return std::optional<JsonRef>(JsonRef(root, &*found));
}

Result<std::pair<std::string_view, JsonRef>> JsonRef::onlyMember() const {
  if (!value->is_object() || value->size() != 1)
    return mismatch("an object with one member");
  auto item = value->begin();
  return std::pair<std::string_view, JsonRef>(item.key(), JsonRef(root, &*item));
}

Result<std::string> JsonRef::string() const {
  if (!value->is_string())
    return mismatch("a string");
  return value->get_ref<const std::string &>();
}

Result<bool> JsonRef::boolean() const {
  if (!value->is_boolean())
    return mismatch("a boolean");
  return value->get<bool>();
}

Result<int64_t> JsonRef::integer() const {
  // Integers beyond 64 bits reach us as floating-point numbers.
  bool isHuge = value->is_number_float() && std::abs(value->get<double>()) >= 0x1p63;
  if (largeUnsigned() || isHuge)
    return unsupported("is an integer that does not fit 64 bits");
  if (!value->is_number_integer())
    return mismatch("an integer");
  return value->get<int64_t>();
}

Result<int64_t> JsonRef::clampedInteger() const {
  using Limits = std::numeric_limits<int64_t>;
  if (largeUnsigned())
    return Limits::max();
  if (value->is_number_float() && std::abs(value->get<double>()) >= 0x1p63)
    return value->get<double>() > 0 ? Limits::max() : Limits::min();
  return integer();
}

std::optional<uint64_t> JsonRef::largeUnsigned() const {
  constexpr uint64_t limit = std::numeric_limits<int64_t>::max();
  if (!value->is_number_unsigned() || value->get<uint64_t>() <= limit)
    return std::nullopt;
  return value->get<uint64_t>();
}

Result<double> JsonRef::number() const {
  if (value->is_number())
    return value->get<double>();
  if (value->is_string()) {
    const std::string &text = value->get_ref<const std::string &>();
    if (text == "Infinity")
      return std::numeric_limits<double>::infinity();
    if (text == "-Infinity")
      return -std::numeric_limits<double>::infinity();
    if (text == "NaN")
      return std::numeric_limits<double>::quiet_NaN();
  }
  return mismatch("a number");
}

std::string JsonRef::path() const {
  std::string path;
  if (value == root || !findPath(*root, value, path))
    return "the document";
  return path;
}

Error JsonRef::corrupt(std::string_view what) const { return corruptError(path() + " " + std::string(what)); }

Error JsonRef::unsupported(std::string_view what) const { return unsupportedError(path() + " " + std::string(what)); }

Error JsonRef::mismatch(std::string_view expected) const {
  return corrupt("should be " + std::string(expected) + " but is " + value->type_name());
}
