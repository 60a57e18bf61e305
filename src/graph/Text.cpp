#include "graph/Text.h"

#include "base/DType.h"

#include <cctype>

using namespace ingot;
using namespace ingot::graph;

std::string graph::shapeText(std::span<const Size> shape, std::string_view separator) {
  std::string text;
  for (const Size &size : shape) {
    if (&size != shape.data())
      text += separator;
    const int64_t *number = std::get_if<int64_t>(&size);
    text += number ? std::to_string(*number) : std::get<std::string>(size);
  }
  return text;
}

std::string graph::shortOp(const Node &node) {
  if (isGetItem(node)) {
    auto index = node.attrs.find("index");
    return index == node.attrs.end() ? "getitem" : "getitem[" + jsonText(*index) + "]";
  }
  std::string_view name = node.opType;
  for (std::string_view prefix : {"aten.", "ingot."})
    if (name.starts_with(prefix))
      name.remove_prefix(prefix.size());
  if (name.ends_with(".default"))
    name.remove_suffix(8);
  return std::string(name);
}

std::optional<uint64_t> graph::elementCount(const Tensor &tensor) {
  uint64_t count = 1;
  for (const Size &size : tensor.shape) {
    const int64_t *number = std::get_if<int64_t>(&size);
    if (!number || *number < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(*number), &count))
      return std::nullopt;
  }
  return count;
}

uint64_t graph::byteCount(const Tensor &tensor) {
  std::optional<DType> dtype = dtypeFromName(tensor.dtype);
  std::optional<uint64_t> count = elementCount(tensor);
  uint64_t bytes = 0;
  if (!dtype || !count || __builtin_mul_overflow(*count, byteSize(*dtype), &bytes))
    return 0;
  return bytes;
}

std::string graph::withSeparators(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;)
    text.insert(at -= 3, ",");
  return text;
}

std::string graph::identifier(std::string_view text) {
  std::string name(text);
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) > 127)
      c = '_';
  return name;
}

std::vector<std::string> graph::modulePath(std::string_view module) {
  std::vector<std::string> path;
  while (!module.empty()) {
    size_t end = std::min(module.find('.'), module.size());
    if (end > 0)
      path.emplace_back(module.substr(0, end));
    module.remove_prefix(std::min(end + 1, module.size()));
  }
  return path;
}

std::string graph::jsonText(const Json &value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string UniqueNames::make(std::string name) {
  size_t &count = used[name];
  if (count++ == 0)
    return name;
  return make(name + "_" + std::to_string(count));
}
