#include "graph/DiffSide.h"

#include "graph/Text.h"

#include <algorithm>
#include <cctype>

using namespace ingot::graph;

namespace {

bool isNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Names of values and bodies replaced by what they are.
Json withoutNames(const Json &value) {
  if (value.is_object() && value.size() == 1 && value.begin().key() == "$symbol")
    return "$symbol";
  if (!value.is_structured())
    return value;
  Json copy = value.is_array() ? Json::array() : Json::object();
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (value.is_array())
      copy.push_back(withoutNames(*item));
    else
      copy[item.key()] = withoutNames(*item);
  }
  return copy;
}

/// [T, null] of a list of tensors.
Json tensorPattern(const Json &value) {
  if (!value.is_array())
    return value.is_null() ? Json() : Json("$tensor");
  Json copy = Json::array();
  for (const Json &element : value)
    copy.push_back(tensorPattern(element));
  return copy;
}

} // namespace

bool Side::hasArguments() const {
  return std::ranges::all_of(flat.nodes, [](const FlatNode &node) { return node.node->args.has_value(); });
}

std::string Side::canonicalSize(const std::string &text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (!isNameStart(text[i])) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && isNamePart(text[end]))
      ++end;
    std::string name = text.substr(i, end - i);
    i = end;
    // Max, floor and the like are no symbols.
    bool isFunction = end < text.size() && text[end] == '(';
    out += isFunction ? name : symbols.emplace(name, "d" + std::to_string(symbols.size())).first->second;
  }
  return out;
}

std::string Side::shape(const Tensor &tensor) {
  std::vector<Size> sizes = tensor.shape;
  for (Size &size : sizes)
    if (std::string *text = std::get_if<std::string>(&size))
      size = canonicalSize(*text);
  return "[" + shapeText(sizes, ", ") + "]";
}

std::map<std::string, std::string> Side::attributesOf(const Node &node, bool useArguments) {
  std::map<std::string, std::string> attributes;
  if (!useArguments) {
    for (auto item = node.attrs.begin(); item != node.attrs.end() && node.attrs.is_object(); ++item)
      attributes[item.key()] = jsonText(withoutNames(*item));
    return attributes;
  }
  for (const ArgumentRecord &record : *node.args) {
    Json value = record.kind == "tensor" || record.kind == "tensors" ? tensorPattern(record.value)
                 : record.kind == "symbol"                           ? Json("$symbol")
                 : record.kind == "graph"                            ? Json("$graph")
                                                                     : withoutNames(record.value);
    attributes[record.name] = jsonText(value);
  }
  return attributes;
}

void Side::canonicalise(bool useArguments) {
  for (const Tensor &input : document.graph.inputs)
    shape(input); // symbols are counted from the inputs on
  users.resize(flat.nodes.size());
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    const FlatNode &node = flat.nodes[i];
    CanonicalNode made;
    made.op = node.node->opType + (node.role.empty() ? "" : " in " + node.role);
    made.attributes = attributesOf(*node.node, useArguments);
    for (const Tensor &output : node.node->outputs)
      made.outputs.push_back({shape(output), output.dtype});
    for (size_t k = 0; k < node.inputs.size(); ++k)
      if (node.inputs[k].from == Link::From::Node)
        users[node.inputs[k].index].emplace_back(i, k);
    nodes.push_back(std::move(made));
  }
}
