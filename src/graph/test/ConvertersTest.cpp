#include "graph/Converters.h"
#include "graph/Reader.h"
#include "graph/Validate.h"
#include "graph/Writer.h"

#include <gtest/gtest.h>

namespace ingot::graph {
namespace {

constexpr const char *kDocument = R"({
  "format": "ingot.graph", "format_version": "1.0", "model_name": "m", "pytorch_version": "2.13.0",
  "graph_inputs": [{"name": "x", "shape": [2], "dtype": "float32"}],
  "graph_outputs": [{"name": "add", "shape": [2], "dtype": "float32"}],
  "weights": [], "weight_name_mapping": {},
  "nodes": [
    {"name": "gelu", "op_type": "aten.gelu.default",
     "inputs": [{"name": "x", "shape": [2], "dtype": "float32", "producer_node": "x", "producer_output_idx": 0}],
     "outputs": [{"name": "gelu", "shape": [2], "dtype": "float32"}], "attrs": {},
     "args": [{"name": "self", "kind": "tensor", "value": "x"}, {"name": "approximate", "kind": "default", "value": "none"}]},
    {"name": "add", "op_type": "aten.add.Tensor",
     "inputs": [{"name": "gelu", "shape": [2], "dtype": "float32", "producer_node": "gelu", "producer_output_idx": 0},
                {"name": "gelu", "shape": [2], "dtype": "float32", "producer_node": "gelu", "producer_output_idx": 0}],
     "outputs": [{"name": "add", "shape": [2], "dtype": "float32"}], "attrs": {},
     "args": [{"name": "self", "kind": "tensor", "value": "gelu"}, {"name": "other", "kind": "tensor", "value": "gelu"},
              {"name": "alpha", "kind": "default", "value": 1}]}
  ],
  "signature": {"inputs": [{"name": "x", "kind": "user_input"}], "outputs": [{"kind": "user_output", "name": "add"}]}
})";

using Emit = void (*)(void *, const char *);

Result<Document> converted(std::initializer_list<ingot_converter> converters) {
  INGOT_TRY(Document document, readDocument(kDocument));
  INGOT_CHECK(convertNodes(document, {converters.begin(), converters.size()}));
  return document;
}

int32_t drop(const char *, Emit, void *, void *) { return INGOT_PLUGIN_OK; }
int32_t refuse(const char *, Emit, void *, void *) { return INGOT_PLUGIN_FAILED; }
int32_t garbage(const char *, Emit emit, void *sink, void *) {
  emit(sink, "{\"name\": 3}");
  return INGOT_PLUGIN_OK;
}

/// The same node under the name that `user` points to.
int32_t rename(const char *text, Emit emit, void *sink, void *user) {
  Json node = Json::parse(text);
  node["op_type"] = static_cast<const char *>(user);
  node["name"] = "renamed";
  node["outputs"][0]["name"] = "renamed";
  node.erase("args");
  emit(sink, node.dump().c_str());
  return INGOT_PLUGIN_OK;
}

/// Two nodes, of which the second has the old result.
int32_t split(const char *text, Emit emit, void *sink, void *) {
  Json first = Json::parse(text), second = first;
  first["name"] = "half";
  first["outputs"][0]["name"] = "half";
  second["name"] = "other_half";
  second["inputs"] = Json::array({first["outputs"][0]});
  second["inputs"][0]["producer_node"] = "half";
  second["inputs"][0]["producer_output_idx"] = 0;
  second["args"][0]["value"] = "half";
  emit(sink, first.dump().c_str());
  emit(sink, second.dump().c_str());
  return INGOT_PLUGIN_OK;
}

TEST(Converters, PatternsMeanOneOverloadOrAll) {
  EXPECT_TRUE(matchesOperator("aten.add.Tensor", "aten.add.Tensor"));
  EXPECT_TRUE(matchesOperator("aten.add", "aten.add.Scalar"));
  EXPECT_FALSE(matchesOperator("aten.add.Tensor", "aten.add.Scalar"));
  EXPECT_FALSE(matchesOperator("aten.add", "aten.add_.Tensor"));
  EXPECT_FALSE(matchesOperator("aten", "aten.add"));
}

TEST(Converters, ADroppedNodeGivesItsInput) {
  auto document = converted({{"aten.gelu", drop, nullptr}});
  ASSERT_TRUE(document) << document.error().str();
  ASSERT_EQ(document->graph.nodes.size(), 1U);
  const Node &add = document->graph.nodes[0];
  EXPECT_EQ(add.inputs[0].name, "x");
  EXPECT_EQ(add.inputs[1].producerNode, "x");
  EXPECT_EQ((*add.args)[0].value, "x");
  EXPECT_TRUE(validate(*document).empty());
}

TEST(Converters, ConsumersFollowANewName) {
  char vendor[] = "vendor.gelu";
  auto document = converted({{"aten.gelu", rename, vendor}});
  ASSERT_TRUE(document) << document.error().str();
  EXPECT_EQ(document->graph.nodes[0].opType, "vendor.gelu");
  EXPECT_EQ(document->graph.nodes[1].inputs[0].name, "renamed");
  EXPECT_EQ(document->graph.nodes[1].inputs[0].producerNode, "renamed");
}

TEST(Converters, TheGraphsOutputsFollow) {
  char vendor[] = "vendor.add";
  auto document = converted({{"aten.add", rename, vendor}});
  ASSERT_TRUE(document) << document.error().str();
  EXPECT_EQ(document->graph.outputs[0].name, "renamed");
  EXPECT_EQ(document->signature["outputs"][0]["name"], "renamed");
}

TEST(Converters, ASplitNodeKeepsItsResult) {
  auto document = converted({{"aten.gelu", split, nullptr}});
  ASSERT_TRUE(document) << document.error().str();
  ASSERT_EQ(document->graph.nodes.size(), 3U);
  EXPECT_EQ(document->graph.nodes[2].inputs[0].name, "gelu");
  EXPECT_EQ(document->graph.nodes[2].inputs[0].producerNode, "other_half");
  EXPECT_TRUE(validate(*document).empty());
}

TEST(Converters, ExactPatternsAndLaterOnesCount) {
  auto document = converted({{"aten.gelu.default", drop, nullptr}, {"aten.gelu", refuse, nullptr}});
  ASSERT_TRUE(document) << document.error().str();
  document = converted({{"aten.gelu", refuse, nullptr}, {"aten.gelu", drop, nullptr}});
  ASSERT_TRUE(document) << document.error().str();
}

TEST(Converters, FailuresNameTheNode) {
  for (ingot_convert_fn function : {refuse, garbage}) {
    auto document = converted({{"aten.gelu", function, nullptr}});
    ASSERT_FALSE(document);
    EXPECT_NE(document.error().str().find("node 'gelu' (aten.gelu.default)"), std::string::npos);
  }
}

} // namespace
} // namespace ingot::graph
