// Reading, validating and completing documents that people and other tools wrote.
#include "graph/Reader.h"
#include "graph/ToProgram.h"
#include "graph/Validate.h"
#include "graph/Writer.h"

#include <gtest/gtest.h>

using namespace ingot;
using namespace ingot::graph;

namespace {

Document parsed(const std::string &text) {
  Result<Document> document = readDocument(text);
  EXPECT_TRUE(document) << document.error().str();
  return document ? *std::move(document) : Document();
}

std::string tensor(const std::string &name, const std::string &producer = "", int index = 0) {
  std::string text = R"({"name": ")" + name + R"(", "shape": [2, 3], "dtype": "float32")";
  if (!producer.empty())
    text += R"(, "producer_node": ")" + producer + R"(", "producer_output_idx": )" + std::to_string(index);
  return text + "}";
}

std::string node(const std::string &name, const std::string &op, const std::string &inputs, const std::string &outputs,
                 const std::string &attrs = "{}") {
  return R"({"name": ")" + name + R"(", "op_type": ")" + op + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" +
         outputs + R"(], "attrs": )" + attrs + "}";
}

/// A document of the older format: input x, weights "n.weight" and "n.bias", and the nodes.
std::string older(const std::string &nodes, const std::string &output) {
  return R"({"graph_inputs": [)" + tensor("x") + R"(], "graph_outputs": [)" + tensor(output) + R"(], "weights": [)" +
         tensor("n.weight") + ", " + tensor("n.bias") +
         R"(], "weight_name_mapping": {"p_n_weight": "n.weight", "p_n_bias": "n.bias"}, "nodes": [)" + nodes + "]}";
}

/// The arguments that the only node is called with.
Result<std::vector<pt2::NamedArgument>> rebuilt(const std::string &node) {
  INGOT_TRY(Document document, readDocument(older(node, "y")));
  INGOT_TRY(pt2::Program program, programWithoutWeights(document));
  return program.graph.nodes.at(0).inputs;
}

const pt2::Argument *find(const std::vector<pt2::NamedArgument> &arguments, const std::string &name) {
  for (const pt2::NamedArgument &argument : arguments)
    if (argument.name == name)
      return &argument.value;
  return nullptr;
}

TEST(Reader, KnowsDocumentsFromPrograms) {
  EXPECT_TRUE(looksLikeDocument(R"({"format": "ingot.graph"})"));
  EXPECT_TRUE(looksLikeDocument(R"({"model_name": "a\"{", "x": {"graph_module": 1}, "graph_inputs": []})"));
  EXPECT_FALSE(looksLikeDocument(R"({"graph_module": {"graph": {"nodes": []}}})"));
  EXPECT_FALSE(looksLikeDocument("PK\x03\x04 \"nodes\":"));
  EXPECT_FALSE(looksLikeDocument(R"({"nodes)"));
  EXPECT_FALSE(looksLikeDocument(""));
}

TEST(Reader, NewerMajorVersionsAreRefused) {
  Result<Document> document = readDocument(R"({"format": "ingot.graph", "format_version": "2.0"})");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(document.error().message.find("2.0"), std::string::npos);
  EXPECT_TRUE(readDocument(
      R"({"format_version": "1.7", "graph_inputs": [], "graph_outputs": [], "weights": [], "nodes": [], "new": 1})"));
}

TEST(Reader, ProblemsOfFormAreAllReported) {
  Result<Document> document = readDocument(R"({"graph_inputs": [{"name": 3, "shape": [], "dtype": "f"}],
      "graph_outputs": {}, "nodes": [{"name": "a", "attrs": []}]})");
  ASSERT_FALSE(document);
  std::string text = document.error().str();
  for (const char *part : {"graph_inputs[0].name should be a string", "graph_outputs should be a list",
                           "lacks the member 'weights'", "nodes[0].attrs should be an object"})
    EXPECT_NE(text.find(part), text.npos) << text;
}

TEST(Reader, HostileTextsAreErrors) {
  EXPECT_FALSE(readDocument(std::string(100000, '[')));
  EXPECT_FALSE(readDocument("[]"));
  EXPECT_FALSE(readDocument("{"));
  EXPECT_FALSE(readDocument("null"));
  EXPECT_FALSE(readDocument(R"({"format": "other", "nodes": []})"));
}

TEST(Validate, EveryProblemHasItsPath) {
  std::string nodes =
      node("a", "aten.relu.default", tensor("b", "b"), tensor("a")) + ", " +
      node("b", "", tensor("x", "x", 4), tensor("b")) + ", " +
      node("b", "aten.relu.default", tensor("p_other"), tensor("c")) + ", " +
      node("d", "aten.relu.default", tensor("z", "z"), R"({"name": "d", "shape": [-1, "s0"], "dtype": "float99"})");
  std::vector<std::string> problems = validate(parsed(older(nodes, "nowhere")));
  std::string all;
  for (const std::string &problem : problems)
    all += problem + "\n";
  for (const char *part :
       {"nodes[0].inputs[0]: its producer 'b' comes later", "nodes[1]: has no op_type",
        "nodes[1].inputs[0]: its producer 'x' has 1 outputs", "nodes[2]: the name 'b' is used twice",
        "nodes[2].inputs[0]: 'p_other' is not produced", "nodes[3].inputs[0]: its producer 'z' does not exist",
        "nodes[3].outputs[0]: there is no dtype 'float99'", "nodes[3].outputs[0].shape[0]: is negative",
        "nodes[3].outputs[0].shape[1]: 's0' is neither", "graph_outputs[0]: 'nowhere' is not produced"})
    EXPECT_NE(all.find(part), all.npos) << part << "\n" << all;
}

TEST(Validate, GoodDocumentsHaveNoProblems) {
  std::string nodes =
      node("m", "aten.max.dim", tensor("x", "x"), tensor("m_0") + ", " + tensor("m_1"), R"({"dim": 1})") + ", " +
      node("y", "<built-in function getitem>", tensor("m_0", "m") + ", " + tensor("m_1", "m", 1), tensor("y"),
           R"({"index": 1})");
  EXPECT_EQ(validate(parsed(older(nodes, "y"))), std::vector<std::string>());
}

TEST(Validate, RecordsMustNameTheInputs) {
  std::string relu = node("y", "aten.relu.default", tensor("x", "x"), tensor("y"));
  relu.insert(relu.size() - 1, R"(, "args": [{"name": "self", "kind": "tensor", "value": "p_n_bias"}])");
  std::vector<std::string> problems = validate(parsed(older(relu, "y")));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], "nodes[0]: 'inputs' and 'args' name different tensors");
}

TEST(Rebuild, OptionalTensorsGoWhereTheirNamesSay) {
  auto given = rebuilt(node("y", "aten.layer_norm.default", tensor("x", "x") + ", " + tensor("p_n_bias"), tensor("y"),
                            R"({"normalized_shape": [3]})"));
  ASSERT_TRUE(given) << given.error().str();
  ASSERT_TRUE(find(*given, "bias"));
  EXPECT_EQ(find(*given, "bias")->asTensor(), "p_n_bias");
  EXPECT_FALSE(find(*given, "weight"));
}

TEST(Rebuild, ScalarsTakeTheSlotOfTheirName) {
  auto given = rebuilt(node("y", "aten.sub.Tensor", tensor("x", "x"), tensor("y"), R"({"self": 2})"));
  ASSERT_TRUE(given) << given.error().str();
  EXPECT_EQ(find(*given, "self")->asInt(), 2);
  EXPECT_EQ(find(*given, "other")->asTensor(), "x");
}

TEST(Rebuild, ArgumentsBehindADefaultAreKept) {
  auto given = rebuilt(
      node("y", "aten.sum.dim_IntList", tensor("x", "x"), tensor("y"), R"({"dim": [1], "dtype": "torch.float64"})"));
  ASSERT_TRUE(given) << given.error().str();
  EXPECT_EQ(find(*given, "dtype")->asScalarType(), DType::Float64);
  EXPECT_FALSE(find(*given, "keepdim"));
}

TEST(Rebuild, KeywordTensorsHaveTheirNames) {
  auto given = rebuilt(node("y", "aten.searchsorted.Tensor",
                            tensor("x", "x") + ", " + tensor("p_n_weight") + ", " + tensor("p_n_bias"), tensor("y")));
  ASSERT_TRUE(given) << given.error().str();
  EXPECT_EQ(find(*given, "sorter")->asTensor(), "p_n_bias");
}

TEST(Rebuild, ListsHaveTheirSizesAndHoles) {
  auto given = rebuilt(node("y", "aten.index.Tensor", tensor("x", "x") + ", " + tensor("p_n_bias"), tensor("y"),
                            R"({"_tensor_list_sizes": [1], "_tensor_list_none_masks": [[true, false]]})"));
  ASSERT_TRUE(given) << given.error().str();
  std::vector<std::optional<std::string>> expected = {std::nullopt, "p_n_bias"};
  EXPECT_EQ(find(*given, "indices")->asOptionalTensors(), expected);
}

TEST(Rebuild, WhatCannotBeCalledIsAnError) {
  auto text = [](const std::string &node) {
    auto given = rebuilt(node);
    return given ? std::string() : given.error().str();
  };
  EXPECT_NE(text(node("y", "vendor.gelu", tensor("x", "x"), tensor("y"))).find("not known"), std::string::npos);
  EXPECT_NE(text(node("y", "aten.max.dim", tensor("x", "x"), tensor("y_0") + "," + tensor("y"))).find("'dim'"),
            std::string::npos);
  EXPECT_NE(text(node("y", "aten.relu.default", tensor("x", "x"), tensor("y"), R"({"slope": 1})")).find("'slope'"),
            std::string::npos);
  EXPECT_NE(text(node("y", "aten.relu.default", "", tensor("y"))).find("has 0 inputs"), std::string::npos);
}

} // namespace
