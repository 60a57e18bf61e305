// Drawings, numbers and the page's data.
#include "Samples.h"
#include "graph/Dot.h"
#include "graph/Html.h"
#include "graph/Info.h"
#include "graph/Mermaid.h"
#include "graph/Tree.h"

#include <gmock/gmock.h>

using namespace ingot::graph;
using namespace ingot::graph::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

size_t occurrences(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// Two layers that use one weight, the second of them in a conditional's body.
Document withBody() {
  Document document = layered(1);
  Node cond = node("cond", "cond", {tensor("p", {}, "p"), tensor("relu_0", {2, 8}, "relu_0")}, {2, 8}, "choice");
  cond.args = {{"pred", "tensor", "p", false},
               {"true_graph", "graph", "yes", false},
               {"operands", "tensors", {"relu_0"}, false}};
  document.graph.inputs.push_back(tensor("p", {}));
  document.graph.nodes.push_back(cond);
  Body &body = document.graph.subgraphs["yes"];
  body.inputs = {tensor("a", {2, 8})};
  body.nodes = {node("neg", "aten.neg.default", {tensor("a", {2, 8}, "a")}, {2, 8}, "choice")};
  body.outputs = {tensor("neg", {2, 8})};
  document.graph.outputs = {tensor("cond", {2, 8})};
  return document;
}

TEST(Flat, BodiesStandBeforeTheirOwnerAndAreWired) {
  Document document = withBody();
  Flat flat = flatten(document);
  ASSERT_EQ(flat.nodes.size(), 4u);
  EXPECT_EQ(flat.nodes[2].node->name, "neg");
  EXPECT_EQ(flat.nodes[2].module, "choice.cond:true_graph");
  EXPECT_EQ(flat.nodes[2].role, "true_graph");
  EXPECT_EQ(flat.nodes[2].inputs[0].index, 1u) << "the operand, not the predicate";
  EXPECT_EQ(flat.nodes[3].inputs.back().index, 2u) << "what the body returns";
  EXPECT_EQ(flat.outputs[0].index, 3u);
}

TEST(Flat, ProducersThatDoNotExistAreUnknown) {
  Document document = layered(2);
  document.graph.nodes[0].inputs[0].producerNode = "relu_1"; // comes later
  Flat flat = flatten(document);
  EXPECT_EQ(flat.nodes[0].inputs[0].from, Link::From::Input) << "the tensor's own name is known";
  document.graph.nodes[0].inputs[0].name = "nothing";
  EXPECT_EQ(flatten(document).nodes[0].inputs[0].from, Link::From::Unknown);
}

TEST(Flat, BodiesInBodiesDoNotExplode) {
  Document document;
  Body *body = &document.graph;
  for (int depth = 0; depth < 40; ++depth) {
    for (int i = 0; i < 2; ++i) {
      Node call = node("call" + std::to_string(i), "cond", {}, {});
      call.args = {{"graph", "graph", "inner", false}, {"other", "graph", "inner", false}};
      body->nodes.push_back(call);
    }
    body = &body->subgraphs["inner"];
  }
  EXPECT_LT(flatten(document).nodes.size(), 1'000'000u);
}

TEST(Tree, CallsOfOneModuleThatStandApartAreTwoGroups) {
  Document document = layered(2);
  document.graph.nodes[2].module = document.graph.nodes[3].module = "layers.1";
  Node again = node("again", "aten.relu.default", {tensor("relu_1", {2, 8}, "relu_1")}, {2, 8}, "layers.0");
  document.graph.nodes.push_back(again);
  document.graph.nodes.push_back(
      node("more", "aten.relu.default", {tensor("again", {2, 8}, "again")}, {2, 8}, "layers.0"));
  Flat flat = flatten(document);
  Tree tree = groupByModule(flat);
  std::vector<std::string> paths;
  for (const Group &group : tree.groups)
    paths.push_back(group.path);
  EXPECT_THAT(paths, ElementsAre("", "layers", "layers.0", "layers.1", "layers.0"));
}

TEST(Mermaid, LinesOfTheFormat) {
  EXPECT_EQ(mermaid(parsed(peak)), R"(flowchart TD
    input_sig[/"Input: sig<br/>2x3"/]
    op_mul["mul.Tensor<br/>2x3"]
    input_sig -->|"2x3"| op_mul
    w_p_gain[/"p_gain<br/>3"/]
    w_p_gain -.->|"3"| op_mul
    op_max_1["max.dim<br/>2"]
    op_mul -->|"2x3"| op_max_1
    op_getitem["getitem[0]<br/>2"]
    op_max_1 -->|"2"| op_getitem
    op_getitem_1["getitem[1]<br/>2"]
    op_max_1 -->|"2"| op_getitem_1
    op_cat["cat<br/>4"]
    op_getitem -->|"2"| op_cat
    op_index["index.Tensor<br/>2"]
    op_cat -->|"4"| op_index
    w_c_pick[/"c_pick<br/>2"/]
    w_c_pick -.->|"2"| op_index
    output_0[\"Output<br/>2"/]
    op_index --> output_0
    output_1[\"Output<br/>2"/]
    op_getitem_1 --> output_1)");
}

TEST(Mermaid, CutsAndLeavesWeightsOut) {
  std::string text = mermaid(parsed(peak), {.maxNodes = 2, .includeWeights = false});
  EXPECT_THAT(text, HasSubstr("    note[\"... 4 more nodes ...\"]"));
  EXPECT_THAT(text, Not(HasSubstr("w_p_gain")));
  EXPECT_THAT(text, Not(HasSubstr("--> output_0"))) << "its producer is cut off";
}

TEST(Mermaid, HandMadeDocumentsWithoutProducersAreDrawn) {
  Document document = layered(1);
  for (Node &node : document.graph.nodes)
    for (Tensor &input : node.inputs)
      input.producerNode.reset();
  std::string text = mermaid(document);
  EXPECT_THAT(text, HasSubstr("input_x -->|\"2x8\"| op_linear_0"));
  EXPECT_THAT(text, HasSubstr("op_linear_0 -->|\"2x8\"| op_relu_0"));
}

TEST(Mermaid, NothingOfADocumentIsReadAsMermaid) {
  Document document = layered(2);
  document.graph.inputs[0].name = "a\"] --> b<script>#\n";
  document.graph.nodes[0].name = "n\"1";
  document.graph.nodes[2].name = "n'1";
  document.graph.nodes[0].opType = "lib.\"op\"<x>.default";
  std::string text = mermaid(document);
  EXPECT_THAT(text, HasSubstr("[/\"Input: a'] --#gt; b#lt;script#gt;#35; <br/>2x8\"/]"));
  EXPECT_THAT(text, HasSubstr("op_n_1[\"lib.'op'#lt;x#gt;<br/>2x8\"]"));
  EXPECT_THAT(text, HasSubstr("op_n_1_2[")) << "ids stay distinct";
}

TEST(Mermaid, SharedWeightsHaveOneBoxAndScalarsNoEmptyLabel) {
  Document document = layered(2);
  document.graph.nodes[2].inputs[1].name = "p_0";
  document.graph.nodes[1].inputs[0].shape.clear();
  std::string text = mermaid(document);
  EXPECT_EQ(occurrences(text, "w_p_0[/"), 1u);
  EXPECT_EQ(occurrences(text, "w_p_0 -.->"), 2u);
  EXPECT_THAT(text, HasSubstr("op_linear_0 --> op_relu_0"));
}

TEST(Mermaid, ModulesAreFramesAndCloseWhenThereAreTooMany) {
  std::string open = mermaidByModule(layered(3));
  EXPECT_THAT(open, HasSubstr("    subgraph m_layers[\"layers\"]\n        subgraph m_layers_0[\"0\"]\n"
                              "            op_linear_0[\"linear<br/>2x8\"]"));
  std::string closed = mermaidByModule(layered(3), {.maxNodes = 3});
  EXPECT_THAT(closed, HasSubstr("        m_layers_1[[\"1<br/>2 nodes<br/>2x8\"]]"));
  EXPECT_THAT(closed, HasSubstr("    m_layers_0 -->|\"2x8\"| m_layers_1"));
  EXPECT_THAT(closed, Not(HasSubstr("op_linear")));
  std::string shut = mermaidByModule(layered(3), {.maxNodes = 1});
  EXPECT_THAT(shut, HasSubstr("m_layers[[\"layers<br/>6 nodes<br/>2x8\"]]"));
}

TEST(Mermaid, PieNamesTheRestOthers) {
  EXPECT_EQ(operatorPie(parsed(peak), 2), R"(pie showData
    title Operator Distribution
    "getitem" : 2
    "cat" : 1
    "Others" : 3)");
}

TEST(Dot, ClustersEdgesAndQuotes) {
  Document document = layered(2);
  document.graph.nodes[0].opType = "lib.\"a\\b\".default";
  std::string text = dot(document);
  EXPECT_THAT(text, HasSubstr("label=\"0\"; color"));
  EXPECT_THAT(text, HasSubstr("n0 -> n1 [label=\"2x8\"];"));
  EXPECT_THAT(text, HasSubstr(R"([label="lib.\"a\\b\"\n2x8")"));
  EXPECT_THAT(text, HasSubstr("layers.0.weight"));
  EXPECT_THAT(dot(document, {.maxNodes = 0, .includeWeights = false}), Not(HasSubstr("layers.0.weight")));
}

TEST(Info, CountsTiedWeightsOnceAndKindsApart) {
  Document document = layered(2);
  document.weights[1].sameAs = "layers.0.weight";
  addWeight(document, "mean", "b_mean", {4});
  document.weights.back().kind = "buffer";
  Json info = infoJson(document);
  EXPECT_EQ(info["num_weights"], 3);
  EXPECT_EQ(info["total_parameters"], 64);
  EXPECT_EQ(info["total_buffers"], 4);
  EXPECT_EQ(info["weight_bytes"], 68 * 4);
  EXPECT_EQ(info["num_nodes"], 4);
  EXPECT_EQ(info["input_shapes"], Json::parse("[[2, 8]]"));
  EXPECT_EQ(info["op_distribution"].begin().value(), 2);
}

TEST(Info, ConstantsOfOlderDocumentsAreNoParameters) {
  Json info = infoJson(parsed(peak));
  EXPECT_EQ(info["total_parameters"], 3);
  EXPECT_EQ(info["total_constants"], 2);
}

TEST(Info, TextHasSeparatorsAndTwoAreCompared) {
  EXPECT_THAT(infoText(layered(2, 1024)), HasSubstr("Total parameters: 2,097,152\n"));
  std::string both = compareInfoText(layered(2), layered(3));
  EXPECT_THAT(both, HasSubstr("* aten.linear.default           2           3          +1"));
  EXPECT_THAT(compareInfoText(layered(2), layered(2)), Not(HasSubstr("* ")));
}

TEST(Info, SizesThatOverflowCountAsNothing) {
  Document document = layered(1);
  document.weights[0].shape = {int64_t(1) << 62, 8};
  EXPECT_EQ(countWeights(document).parameters, 0u);
}

TEST(Html, NothingOfADocumentEndsTheScript) {
  Document document = layered(1);
  document.modelName = "</title><script>alert(1)</script>";
  document.graph.nodes[0].name = "</script><script>alert(2)</script><!--";
  document.graph.nodes[0].source = Source{"{{SCRIPT}}", 3, "\xff", "x = \"</script>\""};
  std::string page = html(document);
  EXPECT_EQ(occurrences(page, "<script"), 2u);
  EXPECT_EQ(occurrences(page, "</script"), 2u);
  EXPECT_EQ(occurrences(page, "<!--"), 0u);
  EXPECT_THAT(page, HasSubstr("&lt;/title&gt;"));
  EXPECT_EQ(occurrences(page, "{{SCRIPT}}"), 1u) << "marks in a document are text";
  EXPECT_THAT(page, Not(HasSubstr("http://"))) << "the page asks nobody for anything";
  EXPECT_THAT(page, Not(HasSubstr("https://")));
}

TEST(Html, DataOfThePage) {
  Document document = withBody();
  Json data = pageData(document);
  EXPECT_EQ(data["nodes"][0]["i"], Json::parse(R"([[-1, "2×8"]])"));
  EXPECT_EQ(data["nodes"][0]["w"], Json::parse(R"([[0, "p_0", "8×8"]])"));
  EXPECT_EQ(data["outputs"][0]["from"], 3);
  EXPECT_EQ(data["weights"][0]["bytes"], 256);
}

} // namespace
