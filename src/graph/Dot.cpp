#include "graph/Dot.h"

#include "graph/Text.h"
#include "graph/Tree.h"

#include <algorithm>
#include <set>

using namespace ingot::graph;

namespace {

std::string dotString(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

/// `\n` in a label is a line break of Graphviz's, so lines are quoted one by one.
std::string label(std::string_view first, std::string_view second) {
  std::string text = dotString(first);
  if (second.empty())
    return text;
  text.pop_back();
  return text + "\\n" + dotString(second).substr(1);
}

class Drawing {
public:
  Drawing(const Document &document, const DrawOptions &options)
      : document(document), options(options), flat(flatten(document)), tree(groupByModule(flat)),
        shown(options.maxNodes == 0 ? flat.nodes.size() : std::min(options.maxNodes, flat.nodes.size())),
        weightNames(flat.weights.size()) {}

  std::string run() {
    text = "digraph " + dotString(document.modelName) + " {\n";
    line("rankdir=TB;", 1);
    line(
        R"(node [shape=box, style="rounded,filled", fillcolor="#eef2f7", color="#7b8794", fontname="Helvetica", fontsize=11];)",
        1);
    line(R"(edge [color="#7b8794", fontname="Helvetica", fontsize=9];)", 1);
    for (size_t i = 0; i < document.graph.inputs.size(); ++i)
      port("input_" + std::to_string(i), document.graph.inputs[i].name, document.graph.inputs[i]);
    drawGroup(0);
    for (size_t i = 0; i < shown; ++i)
      for (const Link &link : flat.nodes[i].inputs)
        drawEdge(link, nodeName(i));
    for (size_t i = 0; i < flat.outputs.size(); ++i) {
      port("output_" + std::to_string(i), "output", document.graph.outputs[i]);
      drawEdge(flat.outputs[i], "output_" + std::to_string(i));
    }
    if (shown < flat.nodes.size())
      line("note [shape=plaintext, label=\"... " + std::to_string(flat.nodes.size() - shown) + " more nodes ...\"];",
           1);
    return text + "}\n";
  }

private:
  void line(const std::string &content, size_t depth) { text += std::string(2 * depth, ' ') + content + "\n"; }

  static std::string nodeName(size_t index) { return "n" + std::to_string(index); }

  void port(const std::string &name, const std::string &title, const Tensor &tensor) {
    line(name + " [shape=ellipse, fillcolor=\"#d8ead2\", label=" +
             label(title, shapeText(tensor.shape) + " " + tensor.dtype) + "];",
         1);
  }

  void drawGroup(size_t index) {
    const Group &group = tree.groups[index];
    size_t depth = group.depth + 1;
    for (const TreeItem &item : group.items) {
      if (item.isGroup) {
        const Group &inner = tree.groups[item.index];
        line("subgraph cluster_" + std::to_string(item.index) + " {", depth);
        line("label=" + dotString(inner.name + (inner.type.empty() ? "" : ": " + inner.type)) +
                 "; color=\"#b7c0cb\"; fontname=\"Helvetica\"; fontsize=11;",
             depth + 1);
        drawGroup(item.index);
        line("}", depth);
      } else if (item.index < shown) {
        const Node &node = *flat.nodes[item.index].node;
        std::string shape = node.outputs.empty() ? "" : shapeText(node.outputs[0].shape);
        line(nodeName(item.index) + " [label=" + label(shortOp(node), shape) + ", tooltip=" + dotString(node.name) +
                 "];",
             depth);
      }
    }
  }

  std::string source(const Link &link) {
    if (link.from == Link::From::Input)
      return "input_" + std::to_string(link.index);
    if (link.from == Link::From::Node)
      return link.index < shown ? nodeName(link.index) : "";
    if (link.from != Link::From::Weight || !options.includeWeights || !link.tensor)
      return "";
    std::string &name = weightNames[link.index];
    if (name.empty()) {
      name = "w" + std::to_string(link.index);
      const WeightValue &value = flat.weights[link.index];
      line(name + " [shape=note, fillcolor=\"#fbeed5\", label=" +
               label(value.weight ? value.weight->name : value.name, shapeText(link.tensor->shape)) + "];",
           1);
    }
    return name;
  }

  void drawEdge(const Link &link, const std::string &target) {
    std::string from = source(link);
    if (from.empty())
      return;
    std::string shape = link.tensor ? shapeText(link.tensor->shape) : "";
    std::string content = from + " -> " + target + (shape.empty() ? "" : " [label=" + dotString(shape) + "]") + ";";
    if (drawn.insert(content).second)
      line(content, 1);
  }

  const Document &document;
  const DrawOptions &options;
  Flat flat;
  Tree tree;
  size_t shown;
  std::vector<std::string> weightNames;
  std::set<std::string> drawn;
  std::string text;
};

} // namespace

std::string ingot::graph::dot(const Document &document, const DrawOptions &options) {
  return Drawing(document, options).run();
}
