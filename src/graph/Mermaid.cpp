#include "graph/Mermaid.h"

#include "graph/Info.h"
#include "graph/Text.h"
#include "graph/Tree.h"

#include <algorithm>
#include <set>

using namespace ingot::graph;

namespace {

/// Text between double quotes: what Mermaid or HTML would read becomes an entity.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"')
      out += '\'';
    else if (c == '<')
      out += "#lt;";
    else if (c == '>')
      out += "#gt;";
    else if (c == '&')
      out += "#amp;";
    else if (c == '#')
      out += "#35;";
    else
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out;
}

std::string boxText(const FlatNode &node) {
  const Node &made = *node.node;
  return escaped(shortOp(made)) + "<br/>" + (made.outputs.empty() ? "" : escaped(shapeText(made.outputs[0].shape)));
}

/// What both charts have: inputs, weights and edges, each of them once.
class Chart {
public:
  Chart(const Document &document, const Flat &flat, const DrawOptions &options)
      : document(document), flat(flat), options(options) {
    for (const Tensor &input : document.graph.inputs) {
      inputIds.push_back(names.make("input_" + identifier(input.name)));
      line(inputIds.back() + "[/\"Input: " + escaped(input.name) + "<br/>" + escaped(shapeText(input.shape)) + "\"/]");
    }
    weightIds.resize(flat.weights.size());
  }

  void line(const std::string &content, size_t depth = 1) { text += std::string(4 * depth, ' ') + content + "\n"; }

  std::string makeName(const std::string &name) { return names.make(name); }

  /// `boxes`: the box of every node, empty where it is not drawn.
  void edges(const FlatNode &node, const std::string &target, const std::vector<std::string> &boxes) {
    for (const Link &link : node.inputs) {
      if (link.from == Link::From::Weight)
        weightEdge(link, target);
      else if (std::string source = boxOf(link, boxes); !source.empty() && source != target)
        edge(source, "-->", link, target);
    }
  }

  void outputs(const std::vector<std::string> &boxes) {
    for (size_t i = 0; i < flat.outputs.size(); ++i) {
      std::string name = "output_" + std::to_string(i);
      line(name + "[\\\"Output<br/>" + escaped(shapeText(document.graph.outputs[i].shape)) + "\"/]");
      if (std::string source = boxOf(flat.outputs[i], boxes); !source.empty())
        line(source + " --> " + name);
    }
  }

  void note(size_t hidden) {
    if (hidden > 0)
      line("note[\"... " + std::to_string(hidden) + " more nodes ...\"]");
  }

  std::string text = "flowchart TD\n";

private:
  std::string boxOf(const Link &link, const std::vector<std::string> &boxes) const {
    if (link.from == Link::From::Input)
      return inputIds[link.index];
    if (link.from == Link::From::Weight)
      return weightIds[link.index];
    return link.from == Link::From::Node ? boxes[link.index] : "";
  }

  void weightEdge(const Link &link, const std::string &target) {
    if (!options.includeWeights || !link.tensor)
      return;
    std::string &name = weightIds[link.index];
    const std::string &value = flat.weights[link.index].name;
    if (name.empty()) {
      name = names.make("w_" + identifier(value));
      line(name + "[/\"" + escaped(value) + "<br/>" + escaped(shapeText(link.tensor->shape)) + "\"/]");
    }
    edge(name, "-.->", link, target);
  }

  /// An empty label is an error in Mermaid, so scalars have none.
  void edge(const std::string &source, const char *arrow, const Link &link, const std::string &target) {
    std::string shape = link.tensor ? escaped(shapeText(link.tensor->shape)) : "";
    std::string content = source + " " + arrow + (shape.empty() ? "" : "|\"" + shape + "\"|") + " " + target;
    if (drawn.insert(content).second)
      line(content);
  }

  const Document &document;
  const Flat &flat;
  const DrawOptions &options;
  UniqueNames names;
  std::vector<std::string> inputIds, weightIds;
  std::set<std::string> drawn;
};

/// How many boxes there are when modules below `depth` are closed.
size_t boxCount(const Tree &tree, size_t depth) {
  size_t count = 0;
  for (const Group &group : tree.groups)
    if (group.depth <= depth)
      for (const TreeItem &item : group.items)
        count += !item.isGroup || tree.groups[item.index].depth > depth;
  return count;
}

size_t deepestReadable(const Tree &tree, size_t limit) {
  size_t deepest = 0;
  for (const Group &group : tree.groups)
    deepest = std::max(deepest, group.depth);
  size_t depth = 0;
  while (depth < deepest && boxCount(tree, depth + 1) <= limit)
    ++depth;
  return depth;
}

/// Frames of open modules, with boxes for nodes and closed modules inside.
class GroupedBoxes {
public:
  GroupedBoxes(Chart &chart, const Flat &flat, const Tree &tree, size_t limit)
      : chart(chart), flat(flat), tree(tree), limit(limit), depth(deepestReadable(tree, limit)) {
    boxes.resize(flat.nodes.size());
    drawItems(0);
  }

  std::vector<std::string> boxes; ///< of every node: its own, or that of its module
  size_t hidden = 0;

private:
  static std::string title(const Group &group) {
    return escaped(group.name + (group.type.empty() ? "" : ": " + group.type));
  }

  void drawItems(size_t index) {
    const Group &group = tree.groups[index];
    for (const TreeItem &item : group.items) {
      if (item.isGroup && tree.groups[item.index].depth <= depth)
        drawFrame(item.index);
      else if (drawn++ >= limit)
        hidden += item.isGroup ? tree.groups[item.index].nodeCount : 1;
      else if (item.isGroup)
        drawClosed(item.index, group.depth + 1);
      else {
        boxes[item.index] = chart.makeName("op_" + identifier(flat.nodes[item.index].node->name));
        chart.line(boxes[item.index] + "[\"" + boxText(flat.nodes[item.index]) + "\"]", group.depth + 1);
      }
    }
  }

  void drawFrame(size_t index) {
    const Group &group = tree.groups[index];
    chart.line("subgraph " + chart.makeName("m_" + identifier(group.path)) + "[\"" + title(group) + "\"]", group.depth);
    drawItems(index);
    chart.line("end", group.depth);
  }

  void drawClosed(size_t index, size_t indent) {
    std::string name = chart.makeName("m_" + identifier(tree.groups[index].path));
    const Node *last = markNodes(index, name);
    std::string shape = last->outputs.empty() ? "" : "<br/>" + escaped(shapeText(last->outputs[0].shape));
    chart.line(name + "[[\"" + title(tree.groups[index]) + "<br/>" + std::to_string(tree.groups[index].nodeCount) +
                   " nodes" + shape + "\"]]",
               indent);
  }

  /// Gives the nodes of a closed module its box, and returns the last of them.
  const Node *markNodes(size_t index, const std::string &name) {
    const Node *last = nullptr;
    for (const TreeItem &item : tree.groups[index].items) {
      if (!item.isGroup)
        boxes[item.index] = name;
      last = item.isGroup ? markNodes(item.index, name) : flat.nodes[item.index].node;
    }
    return last;
  }

  Chart &chart;
  const Flat &flat;
  const Tree &tree;
  size_t limit, depth, drawn = 0;
};

} // namespace

std::string ingot::graph::mermaid(const Document &document, const DrawOptions &options) {
  Flat flat = flatten(document);
  Chart chart(document, flat, options);
  std::vector<std::string> boxes(flat.nodes.size());
  size_t shown = std::min(options.maxNodes, flat.nodes.size());
  for (size_t i = 0; i < shown; ++i) {
    boxes[i] = chart.makeName("op_" + identifier(flat.nodes[i].node->name));
    chart.line(boxes[i] + "[\"" + boxText(flat.nodes[i]) + "\"]");
    chart.edges(flat.nodes[i], boxes[i], boxes);
  }
  chart.outputs(boxes);
  chart.note(flat.nodes.size() - shown);
  chart.text.pop_back();
  return chart.text;
}

std::string ingot::graph::mermaidByModule(const Document &document, const DrawOptions &options) {
  Flat flat = flatten(document);
  Tree tree = groupByModule(flat);
  Chart chart(document, flat, options);
  GroupedBoxes grouped(chart, flat, tree, options.maxNodes);
  for (size_t i = 0; i < flat.nodes.size(); ++i)
    if (!grouped.boxes[i].empty())
      chart.edges(flat.nodes[i], grouped.boxes[i], grouped.boxes);
  chart.outputs(grouped.boxes);
  chart.note(grouped.hidden);
  chart.text.pop_back();
  return chart.text;
}

std::string ingot::graph::operatorPie(const Document &document, size_t count) {
  std::string text = "pie showData\n    title Operator Distribution";
  uint64_t others = 0;
  size_t shown = 0;
  for (const OpCount &row : countOperators(document)) {
    if (shown++ < count)
      text += "\n    \"" + escaped(row.shortName) + "\" : " + std::to_string(row.count);
    else
      others += row.count;
  }
  return others == 0 ? text : text + "\n    \"Others\" : " + std::to_string(others);
}
