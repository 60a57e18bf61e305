#include "graph/Diff.h"

#include "graph/DiffMatch.h"
#include "graph/Info.h"
#include "graph/Text.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ingot::graph;

namespace {

std::string keyOf(const WeightValue &value) { return value.weight ? value.weight->name : value.name; }

std::string describe(const Side &side, const Link &link) {
  switch (link.from) {
  case Link::From::Node: {
    const Node &node = *side.flat.nodes[link.index].node;
    bool isOneOfMany =
        node.outputs.size() > 1 && link.output >= 0 && static_cast<size_t>(link.output) < node.outputs.size();
    return isOneOfMany ? node.outputs[static_cast<size_t>(link.output)].name : node.name;
  }
  case Link::From::Input:
    return "input " + side.document.graph.inputs[link.index].name;
  case Link::From::Weight:
    return "weight " + keyOf(side.flat.weights[link.index]);
  case Link::From::Unknown:
    return "nothing";
  }
  return "nothing";
}

std::string nodeText(const Node &node) {
  std::string where = node.module.empty() ? "" : " in " + node.module;
  return node.opType + where;
}

class Comparer {
public:
  Comparer(Side &first, Side &second, Matching matching)
      : first(first), second(second), matching(std::move(matching)) {}

  Comparison run() {
    compareInputs();
    compareNodes();
    compareOutputs();
    compareWeights();
    compareConstants();
    return std::move(result);
  }

private:
  void add(const char *kind, const std::string &where, const std::string &before, const std::string &after) {
    result.differences.push_back({kind, where, before, after});
  }
  void addUnlessEqual(const char *kind, const std::string &where, const std::string &before, const std::string &after) {
    if (before != after)
      add(kind, where, before, after);
  }
  void compareInputs();
  void compareNodes();
  void comparePair(size_t a, size_t b);
  void compareLinks(size_t a, size_t b);
  void compareOutputs();
  void compareWeights();
  void compareConstants();

  Side &first, &second;
  Matching matching;
  Comparison result;
  std::map<std::string, std::string> renamedKeys; ///< of weights: the first document's ► the second's
};

void Comparer::compareInputs() {
  const std::vector<Tensor> &ours = first.document.graph.inputs, &theirs = second.document.graph.inputs;
  size_t last = 0;
  bool isReordered = false;
  for (size_t i = 0; i < ours.size(); ++i) {
    size_t other = matching.inputs.second[i];
    if (other == kUnmatched) {
      add("graph_input_removed", ours[i].name, first.shape(ours[i]) + " " + ours[i].dtype, "");
      continue;
    }
    isReordered |= other < last;
    last = other;
    if (ours[i].name != theirs[other].name)
      result.renamedInputs.emplace_back(ours[i].name, theirs[other].name);
    addUnlessEqual("graph_input_changed", ours[i].name, first.shape(ours[i]) + " " + ours[i].dtype,
                   second.shape(theirs[other]) + " " + theirs[other].dtype);
  }
  for (size_t i = 0; i < theirs.size(); ++i)
    if (matching.inputs.first[i] == kUnmatched)
      add("graph_input_added", theirs[i].name, "", second.shape(theirs[i]) + " " + theirs[i].dtype);
  if (isReordered)
    add("graph_inputs_reordered", "inputs", "", "");
}

void Comparer::compareNodes() {
  size_t last = 0;
  for (size_t a = 0; a < first.nodes.size(); ++a) {
    const Node &node = *first.flat.nodes[a].node;
    size_t b = matching.nodes.second[a];
    if (b == kUnmatched) {
      add("node_removed", node.name, nodeText(node), "");
      continue;
    }
    result.isReordered |= b < last;
    last = b;
    if (node.name != second.flat.nodes[b].node->name)
      result.renamedNodes.emplace_back(node.name, second.flat.nodes[b].node->name);
    comparePair(a, b);
  }
  for (size_t b = 0; b < second.nodes.size(); ++b)
    if (matching.nodes.first[b] == kUnmatched)
      add("node_added", second.flat.nodes[b].node->name, "", nodeText(*second.flat.nodes[b].node));
}

void Comparer::comparePair(size_t a, size_t b) {
  const std::string &where = first.flat.nodes[a].node->name;
  const CanonicalNode &ours = first.nodes[a], &theirs = second.nodes[b];
  addUnlessEqual("op_changed", where, ours.op, theirs.op);
  std::set<std::string> names;
  for (const auto &attributes : {ours.attributes, theirs.attributes})
    for (const auto &[name, value] : attributes)
      names.insert(name);
  auto value = [](const CanonicalNode &node, const std::string &name) {
    auto found = node.attributes.find(name);
    return found == node.attributes.end() ? "absent" : found->second;
  };
  for (const std::string &name : names)
    addUnlessEqual("attribute_changed", where + "." + name, value(ours, name), value(theirs, name));
  if (ours.outputs.size() != theirs.outputs.size())
    add("shape_changed", where, std::to_string(ours.outputs.size()) + " results",
        std::to_string(theirs.outputs.size()) + " results");
  for (size_t i = 0; i < std::min(ours.outputs.size(), theirs.outputs.size()); ++i) {
    addUnlessEqual("shape_changed", where, ours.outputs[i].shape, theirs.outputs[i].shape);
    addUnlessEqual("dtype_changed", where, ours.outputs[i].dtype, theirs.outputs[i].dtype);
  }
  compareLinks(a, b);
}

void Comparer::compareLinks(size_t a, size_t b) {
  const std::string &where = first.flat.nodes[a].node->name;
  const std::vector<Link> &ours = first.flat.nodes[a].inputs, &theirs = second.flat.nodes[b].inputs;
  if (ours.size() != theirs.size())
    add("inputs_changed", where, std::to_string(ours.size()) + " inputs", std::to_string(theirs.size()) + " inputs");
  for (size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k)
    if (!isSameLink(matching, ours[k], theirs[k]))
      add("input_rewired", where + " input " + std::to_string(k), describe(first, ours[k]),
          describe(second, theirs[k]));
}

void Comparer::compareOutputs() {
  const std::vector<Tensor> &ours = first.document.graph.outputs, &theirs = second.document.graph.outputs;
  if (ours.size() != theirs.size())
    add("graph_outputs_changed", "outputs", std::to_string(ours.size()), std::to_string(theirs.size()));
  for (size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k) {
    std::string where = "output " + std::to_string(k);
    if (!isSameLink(matching, first.flat.outputs[k], second.flat.outputs[k]))
      add("graph_output_changed", where, describe(first, first.flat.outputs[k]),
          describe(second, second.flat.outputs[k]));
    addUnlessEqual("graph_output_changed", where, first.shape(ours[k]) + " " + ours[k].dtype,
                   second.shape(theirs[k]) + " " + theirs[k].dtype);
  }
}

void Comparer::compareWeights() {
  for (size_t i = 0; i < first.flat.weights.size(); ++i)
    if (size_t other = matching.weights.second[i]; other != kUnmatched)
      renamedKeys.emplace(keyOf(first.flat.weights[i]), keyOf(second.flat.weights[other]));
  std::map<std::string, const Weight *> theirs;
  for (const Weight &weight : second.document.weights)
    theirs.emplace(weight.name, &weight);
  auto text = [](Side &side, const Weight &weight) {
    return side.shape(weight) + " " + weight.dtype + " " + weightKind(side.document, weight);
  };
  for (const Weight &weight : first.document.weights) {
    auto renamed = renamedKeys.find(weight.name);
    const std::string &name = renamed == renamedKeys.end() ? weight.name : renamed->second;
    auto other = theirs.find(name);
    if (other == theirs.end() || !other->second) {
      add("weight_removed", weight.name, text(first, weight), "");
      continue;
    }
    if (name != weight.name)
      result.renamedWeights.emplace_back(weight.name, name);
    addUnlessEqual("weight_changed", weight.name, text(first, weight), text(second, *other->second));
    auto tied = renamedKeys.find(weight.sameAs);
    addUnlessEqual("weight_changed", weight.name,
                   weight.sameAs.empty() ? "" : "tied to " + (tied == renamedKeys.end() ? weight.sameAs : tied->second),
                   other->second->sameAs.empty() ? "" : "tied to " + other->second->sameAs);
    other->second = nullptr; // taken
  }
  for (const Weight &weight : second.document.weights)
    if (theirs[weight.name] == &weight)
      add("weight_added", weight.name, "", text(second, weight));
}

void Comparer::compareConstants() {
  std::map<std::string, const Json *> theirs;
  for (const auto &[name, value] : second.document.constants)
    theirs.emplace(name, &value);
  auto data = [](const Json &value) {
    auto found = value.find("data");
    return found == value.end() ? "" : jsonText(*found).substr(0, 60);
  };
  for (const auto &[name, value] : first.document.constants) {
    auto renamed = renamedKeys.find(name);
    auto other = theirs.find(renamed == renamedKeys.end() ? name : renamed->second);
    // Where it is stored is no part of its value.
    if (other == theirs.end() || !value.contains("data") || !other->second->contains("data"))
      continue;
    if (value["data"] != (*other->second)["data"])
      add("constant_changed", name, data(value), data(*other->second));
  }
}

std::set<std::string> weightNames(const Document &document) {
  std::set<std::string> names;
  for (const Weight &weight : document.weights)
    names.insert(weight.name);
  return names;
}

Json renamedJson(const std::vector<std::pair<std::string, std::string>> &renamed) {
  Json list = Json::array();
  for (const auto &[before, after] : renamed)
    list.push_back({{"before", before}, {"after", after}});
  return list;
}

} // namespace

Comparison ingot::graph::compare(const Document &first, const Document &second) {
  Side ours(first), theirs(second);
  bool useArguments = ours.hasArguments() && theirs.hasArguments();
  ours.canonicalise(useArguments);
  theirs.canonicalise(useArguments);
  Comparison byKey = Comparer(ours, theirs, match(ours, theirs, /*useKeys=*/true)).run();
  if (byKey.isSame() || weightNames(first) == weightNames(second))
    return byKey;
  // "layer.1" of both may be another layer, where layers were renumbered.
  Comparison byUse = Comparer(ours, theirs, match(ours, theirs, /*useKeys=*/false)).run();
  return byUse.differences.size() < byKey.differences.size() ? byUse : byKey;
}

Json ingot::graph::comparisonJson(const Comparison &comparison) {
  Json differences = Json::array();
  for (const Difference &difference : comparison.differences)
    differences.push_back({{"kind", difference.kind},
                           {"where", difference.where},
                           {"before", difference.before},
                           {"after", difference.after}});
  return {{"same", comparison.isSame()},
          {"differences", std::move(differences)},
          {"renamed_nodes", renamedJson(comparison.renamedNodes)},
          {"renamed_weights", renamedJson(comparison.renamedWeights)},
          {"renamed_inputs", renamedJson(comparison.renamedInputs)},
          {"reordered", comparison.isReordered}};
}

std::string ingot::graph::comparisonText(const Comparison &comparison, size_t maxItems) {
  std::string names;
  auto note = [&](const std::string &text) { names += (names.empty() ? "" : ", ") + text; };
  if (!comparison.renamedNodes.empty())
    note(std::to_string(comparison.renamedNodes.size()) + " nodes have other names");
  if (!comparison.renamedWeights.empty())
    note(std::to_string(comparison.renamedWeights.size()) + " weights have other names");
  if (!comparison.renamedInputs.empty())
    note(std::to_string(comparison.renamedInputs.size()) + " inputs have other names");
  if (comparison.isReordered)
    note("nodes stand in another order");
  if (comparison.isSame())
    return names.empty() ? "identical\n" : "same structure (" + names + ")\n";
  std::map<std::string, std::vector<const Difference *>> kinds;
  for (const Difference &difference : comparison.differences)
    kinds[difference.kind].push_back(&difference);
  std::string text = "different: " + withSeparators(comparison.differences.size()) + " differences" +
                     (names.empty() ? "" : " (besides, " + names + ")") + "\n";
  for (const auto &[kind, list] : kinds) {
    text += kind + " (" + withSeparators(list.size()) + ")\n";
    for (size_t i = 0; i < list.size() && (maxItems == 0 || i < maxItems); ++i) {
      const Difference &item = *list[i];
      std::string change = item.before.empty()  ? item.after
                           : item.after.empty() ? item.before
                                                : item.before + " -> " + item.after;
      text += "  " + item.where + (change.empty() ? "" : ": " + change) + "\n";
    }
    if (maxItems > 0 && list.size() > maxItems)
      text += "  ... " + withSeparators(list.size() - maxItems) + " more\n";
  }
  return text;
}
