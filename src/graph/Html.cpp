#include "graph/Html.h"

#include "graph/Info.h"
#include "graph/PageFiles.h"
#include "graph/Text.h"
#include "graph/Tree.h"

#include <map>

using namespace ingot::graph;

namespace {

/// Attributes can hold whole tensors; a page shows their beginning.
constexpr size_t maxValueLength = 240;

std::string shortened(std::string text) {
  if (text.size() <= maxValueLength)
    return text;
  size_t end = maxValueLength;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) // not inside a character
    --end;
  text.resize(end);
  return text + " …";
}

class PageBuilder {
public:
  explicit PageBuilder(const Document &document)
      : document(document), flat(flatten(document)), tree(groupByModule(flat)) {
    for (size_t i = 0; i < document.weights.size(); ++i)
      weightIndex.emplace(&document.weights[i], i);
  }

  Json build() {
    Json data = {{"info", infoJson(document)}, {"torch", document.pytorchVersion}};
    data["inputs"] = ports(document.graph.inputs);
    data["outputs"] = ports(document.graph.outputs);
    for (size_t i = 0; i < flat.outputs.size(); ++i)
      data["outputs"][i]["from"] = source(flat.outputs[i]);
    data["weights"] = weights();
    data["groups"] = groups();
    Json nodes = Json::array();
    for (const FlatNode &node : flat.nodes)
      nodes.push_back(nodeJson(node));
    data["nodes"] = std::move(nodes);
    data["files"] = files;
    Json symbols = Json::array();
    for (const auto &[name, symbol] : document.symbols)
      symbols.push_back({name, symbol.min ? Json(*symbol.min) : Json(), symbol.max ? Json(*symbol.max) : Json()});
    data["symbols"] = std::move(symbols);
    return data;
  }

private:
  static std::string shape(const Tensor &tensor) { return shapeText(tensor.shape, "×"); }

  static Json ports(const std::vector<Tensor> &tensors) {
    Json list = Json::array();
    for (const Tensor &tensor : tensors)
      list.push_back({{"name", tensor.name}, {"shape", shape(tensor)}, {"dtype", tensor.dtype}});
    return list;
  }

  /// A node's number, or -1 - the number of an input; null for the rest.
  static Json source(const Link &link) {
    if (link.from == Link::From::Node)
      return link.index;
    return link.from == Link::From::Input ? Json(-1 - static_cast<int64_t>(link.index)) : Json();
  }

  Json weights() const {
    Json list = Json::array();
    for (const Weight &weight : document.weights)
      list.push_back({{"name", weight.name},
                      {"shape", shape(weight)},
                      {"dtype", weight.dtype},
                      {"kind", weightKind(document, weight)},
                      {"count", elementCount(weight).value_or(0)},
                      {"bytes", byteCount(weight)},
                      {"same", weight.sameAs}});
    return list;
  }

  Json groups() const {
    Json list = Json::array();
    for (const Group &group : tree.groups) {
      Json items = Json::array();
      for (const TreeItem &item : group.items)
        items.push_back(item.isGroup ? -static_cast<int64_t>(item.index) - 1 : static_cast<int64_t>(item.index));
      list.push_back({{"n", group.name}, {"p", group.path}, {"t", group.type}, {"c", std::move(items)}});
    }
    return list;
  }

  Json nodeJson(const FlatNode &flatNode) {
    const Node &node = *flatNode.node;
    Json inputs = Json::array(), used = Json::array(), results = Json::array();
    for (const Link &link : flatNode.inputs) {
      std::string text = link.tensor ? shape(*link.tensor) : "";
      if (link.from == Link::From::Weight)
        used.push_back({weightNumber(flat.weights[link.index]), flat.weights[link.index].name, text});
      else if (link.from != Link::From::Unknown)
        inputs.push_back({source(link), text});
    }
    for (const Tensor &output : node.outputs)
      results.push_back({output.name, shape(output), output.dtype});
    for (const Scalar &scalar : node.scalars)
      results.push_back({scalar.name, scalar.expr, scalar.type});
    Json made = {{"n", node.name},       {"o", shortOp(node)},      {"f", node.opType},
                 {"m", flatNode.module}, {"t", node.moduleType},    {"i", std::move(inputs)},
                 {"w", std::move(used)}, {"r", std::move(results)}, {"a", arguments(node)}};
    if (node.source)
      made["s"] = {fileNumber(node.source->file), node.source->line, node.source->function,
                   shortened(node.source->code)};
    return made;
  }

  static Json arguments(const Node &node) {
    Json list = Json::array();
    if (node.args) {
      for (const ArgumentRecord &record : *node.args)
        list.push_back({record.name,
                        shortened(record.value.is_string() ? record.value.get<std::string>() : jsonText(record.value)),
                        record.kind});
      return list;
    }
    for (auto item = node.attrs.begin(); item != node.attrs.end() && node.attrs.is_object(); ++item)
      list.push_back({item.key(), shortened(jsonText(*item)), "value"});
    return list;
  }

  int64_t weightNumber(const WeightValue &value) const {
    auto found = weightIndex.find(value.weight);
    return found == weightIndex.end() ? -1 : static_cast<int64_t>(found->second);
  }

  size_t fileNumber(const std::string &file) {
    auto [entry, isNew] = fileNumbers.emplace(file, fileNumbers.size());
    if (isNew)
      files.push_back(file);
    return entry->second;
  }

  const Document &document;
  Flat flat;
  Tree tree;
  std::map<const Weight *, size_t> weightIndex;
  std::map<std::string, size_t> fileNumbers;
  Json files = Json::array();
};

/// JSON in a <script>: nothing in it may end the element or begin a comment.
std::string scriptSafe(const Json &data) {
  std::string text = jsonText(data), safe;
  safe.reserve(text.size());
  for (char c : text) {
    if (c == '<' || c == '>' || c == '&')
      safe += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    else
      safe += c;
  }
  return safe;
}

std::string htmlText(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '<' || c == '>' || c == '&' || c == '"')
      safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : "&quot;";
    else
      safe += c;
  }
  return safe;
}

} // namespace

Json ingot::graph::pageData(const Document &document) { return PageBuilder(document).build(); }

std::string ingot::graph::html(const Document &document) {
  // Marks are looked for in the frame alone, so nothing in a document is taken for one.
  std::map<std::string, std::string, std::less<>> parts = {{"TITLE", htmlText(document.modelName)},
                                                           {"STYLE", std::string(pageStyle())},
                                                           {"DATA", scriptSafe(pageData(document))},
                                                           {"SCRIPT", pageScript()}};
  std::string page;
  std::string_view frame = pageFrame();
  for (;;) {
    size_t begin = frame.find("{{"), end = frame.find("}}");
    if (begin == frame.npos || end == frame.npos)
      return page.append(frame);
    page.append(frame.substr(0, begin));
    if (auto part = parts.find(frame.substr(begin + 2, end - begin - 2)); part != parts.end())
      page += part->second;
    frame.remove_prefix(end + 2);
  }
}
