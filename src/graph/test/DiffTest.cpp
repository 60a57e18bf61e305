// Comparing documents: the same structure under other names, and every kind of difference.
#include "graph/Diff.h"
#include "Samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>
#include <map>

using namespace ingot::graph;
using namespace ingot::graph::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

std::vector<std::string> kinds(const Comparison &comparison) {
  std::vector<std::string> list;
  for (const Difference &difference : comparison.differences)
    list.push_back(difference.kind + " " + difference.where);
  return list;
}

/// Other names for all nodes and values.
Document renamed(Document document, const std::string &prefix, bool weightsToo) {
  std::map<std::string, std::string> names;
  for (const Tensor &input : document.graph.inputs)
    names[input.name] = prefix + input.name;
  for (const Node &node : document.graph.nodes)
    names[node.name] = prefix + node.name;
  for (auto &[value, key] : document.weightNames) {
    names[value] = prefix + value;
    value = prefix + value;
    key = weightsToo ? prefix + key : key;
  }
  auto rename = [&](Tensor &tensor) {
    if (names.contains(tensor.name))
      tensor.name = names[tensor.name];
    if (tensor.producerNode)
      tensor.producerNode = names[*tensor.producerNode];
  };
  for (Weight &weight : document.weights)
    weight.name = weightsToo ? prefix + weight.name : weight.name;
  for (Node &node : document.graph.nodes) {
    node.name = names[node.name];
    std::ranges::for_each(node.inputs, rename);
    std::ranges::for_each(node.outputs, rename);
  }
  std::ranges::for_each(document.graph.inputs, rename);
  std::ranges::for_each(document.graph.outputs, rename);
  return document;
}

/// x ► two equal branches ► their sum.
Document branches() {
  Document document;
  document.graph.inputs = {tensor("x", {4})};
  for (std::string side : {"l", "r"}) {
    document.graph.nodes.push_back(node(side + "1", "aten.relu.default", {tensor("x", {4}, "x")}, {4}));
    document.graph.nodes.push_back(node(side + "2", "aten.neg.default", {tensor(side + "1", {4}, side + "1")}, {4}));
  }
  document.graph.nodes.push_back(
      node("sum", "aten.sub.Tensor", {tensor("l2", {4}, "l2"), tensor("r2", {4}, "r2")}, {4}));
  document.graph.outputs = {tensor("sum", {4})};
  return document;
}

TEST(Diff, Identical) {
  Comparison comparison = compare(layered(4), layered(4));
  EXPECT_TRUE(comparison.isSame());
  EXPECT_FALSE(comparison.isReordered);
  EXPECT_THAT(comparison.renamedNodes, IsEmpty());
  EXPECT_EQ(comparisonText(comparison, 10), "identical\n");
}

TEST(Diff, RenamedIsTheSame) {
  Comparison comparison = compare(layered(4), renamed(layered(4), "other_", /*weightsToo=*/true));
  EXPECT_THAT(kinds(comparison), IsEmpty());
  EXPECT_EQ(comparison.renamedNodes.size(), 8u);
  EXPECT_EQ(comparison.renamedWeights.size(), 4u);
  EXPECT_EQ(comparison.renamedInputs.size(), 1u);
  EXPECT_THAT(comparisonText(comparison, 10), HasSubstr("same structure (8 nodes have other names"));
}

TEST(Diff, LayersThatWereRenumberedAreTheSame) {
  Document second = layered(4);
  for (size_t i = 0; i < second.weights.size(); ++i)
    second.weights[i].name = second.weightNames[i].second = "layers." + std::to_string(i + 1) + ".weight";
  EXPECT_THAT(kinds(compare(layered(4), second)), IsEmpty());
}

TEST(Diff, ReorderedIsTheSame) {
  Document second = branches();
  std::swap(second.graph.nodes[1], second.graph.nodes[2]); // l1 r1 l2 r2
  Comparison comparison = compare(branches(), second);
  EXPECT_THAT(kinds(comparison), IsEmpty());
  EXPECT_TRUE(comparison.isReordered);
}

TEST(Diff, EqualBranchesAreNotMixedUp) {
  Document second = renamed(branches(), "n_", false);
  std::swap(second.graph.nodes[0], second.graph.nodes[2]); // r1 r2' ...: the branches trade their first nodes
  std::swap(second.graph.nodes[1], second.graph.nodes[3]);
  EXPECT_THAT(kinds(compare(branches(), second)), IsEmpty());
}

TEST(Diff, Rewired) {
  Document second = branches();
  second.graph.nodes[4].inputs[1] = tensor("l2", {4}, "l2");
  EXPECT_THAT(kinds(compare(branches(), second)), ElementsAre("input_rewired sum input 1"));
}

TEST(Diff, SwappedWeightsAreADifference) {
  Document second = layered(2);
  std::swap(second.graph.nodes[0].inputs[1], second.graph.nodes[2].inputs[1]);
  EXPECT_THAT(kinds(compare(layered(2), second)),
              ElementsAre("input_rewired linear_0 input 1", "input_rewired linear_1 input 1"));
}

TEST(Diff, Resized) {
  Comparison comparison = compare(layered(2), layered(2, 16));
  EXPECT_THAT(kinds(comparison),
              ElementsAre("graph_input_changed x", "shape_changed linear_0", "shape_changed relu_0",
                          "shape_changed linear_1", "shape_changed relu_1", "graph_output_changed output 0",
                          "weight_changed layers.0.weight", "weight_changed layers.1.weight"));
  EXPECT_EQ(comparison.differences[1].before, "[2, 8]");
  EXPECT_EQ(comparison.differences[1].after, "[2, 16]");
}

TEST(Diff, ResizedAndRenamedIsStillMatched) {
  Comparison comparison = compare(layered(3), renamed(layered(3, 16), "n_", true));
  for (const Difference &difference : comparison.differences)
    EXPECT_THAT(difference.kind, testing::EndsWith("_changed"));
}

TEST(Diff, OneOperatorChanged) {
  Document second = layered(4);
  second.graph.nodes[3].opType = "aten.gelu.default";
  Comparison comparison = compare(layered(4), second);
  ASSERT_THAT(kinds(comparison), ElementsAre("op_changed relu_1"));
  EXPECT_EQ(comparison.differences[0].after, "aten.gelu.default");
}

TEST(Diff, AttributesByName) {
  Document first = layered(2), second = renamed(layered(2), "n_", false);
  first.graph.nodes[1].attrs = {{"alpha", 1}, {"same", "x"}};
  second.graph.nodes[1].attrs = {{"same", "x"}, {"alpha", 2}};
  Comparison comparison = compare(first, second);
  ASSERT_THAT(kinds(comparison), ElementsAre("attribute_changed relu_0.alpha"));
  EXPECT_EQ(comparison.differences[0].before + " " + comparison.differences[0].after, "1 2");
}

TEST(Diff, AddedAndRemovedNodes) {
  Document second = layered(3);
  Node extra = node("extra", "aten.neg.default", {tensor("relu_0", {2, 8}, "relu_0")}, {2, 8});
  second.graph.nodes[2].inputs[0] = tensor("extra", {2, 8}, "extra");
  second.graph.nodes.insert(second.graph.nodes.begin() + 2, extra);
  EXPECT_THAT(kinds(compare(layered(3), second)), ElementsAre("input_rewired linear_1 input 0", "node_added extra"));
  EXPECT_THAT(kinds(compare(second, layered(3))), ElementsAre("node_removed extra", "input_rewired linear_1 input 0"));
}

TEST(Diff, DtypesInputsOutputsAndConstants) {
  Document second = parsed(peak);
  second.graph.inputs.push_back(tensor("more", {1}));
  second.graph.outputs.pop_back();
  second.constants[0].second["data"] = {2, 1};
  EXPECT_THAT(kinds(compare(parsed(peak), second)),
              ElementsAre("graph_input_added more", "graph_outputs_changed outputs", "constant_changed pick"));
}

TEST(Diff, SymbolsMayHaveOtherNames) {
  Document first = branches(), second = branches();
  for (auto [document, symbol] : {std::pair(&first, "s77"), std::pair(&second, "s3")}) {
    document->graph.inputs[0].shape = {std::string(symbol)};
    for (Node &node : document->graph.nodes)
      node.outputs[0].shape = {std::string("2*") + symbol};
  }
  EXPECT_THAT(kinds(compare(first, second)), IsEmpty());
  second.graph.nodes[4].outputs[0].shape = {std::string("3*s3")};
  EXPECT_THAT(kinds(compare(first, second)), ElementsAre("shape_changed sum"));
}

TEST(Diff, FiveThousandNodesTakeNoTime) {
  Document first = layered(2500), second = renamed(layered(2500), "n_", true);
  second.graph.nodes[2501].opType = "aten.gelu.default";
  // The processor's time: a busy machine is no slow comparison. Sanitizers take several times as long.
  const std::clock_t start = std::clock();
  EXPECT_THAT(kinds(compare(first, second)), ElementsAre("op_changed relu_1250"));
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr std::clock_t seconds = 60;
#else
  constexpr std::clock_t seconds = 5;
#endif
  EXPECT_LT(std::clock() - start, seconds * CLOCKS_PER_SEC);
}

} // namespace
