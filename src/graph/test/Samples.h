// Documents for the tests of what draws and compares them.
#pragma once

#include "graph/Reader.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot::graph::test {

inline Document parsed(const std::string &text) {
  Result<Document> document = readDocument(text);
  EXPECT_TRUE(document) << document.error().str();
  return document ? *std::move(document) : Document();
}

inline Tensor tensor(std::string name, std::vector<Size> shape, std::string producer = "", int64_t index = 0) {
  Tensor made;
  made.name = std::move(name);
  made.shape = std::move(shape);
  made.dtype = "float32";
  if (!producer.empty())
    made.producerNode = std::move(producer);
  made.producerIndex = index;
  return made;
}

inline Node node(std::string name, std::string op, std::vector<Tensor> inputs, std::vector<Size> shape,
                 std::string module = "") {
  Node made;
  made.outputs = {tensor(name, std::move(shape))};
  made.name = std::move(name);
  made.opType = std::move(op);
  made.inputs = std::move(inputs);
  made.module = std::move(module);
  return made;
}

inline void addWeight(Document &document, const std::string &key, const std::string &value, std::vector<Size> shape) {
  Weight weight;
  static_cast<Tensor &>(weight) = tensor(key, std::move(shape));
  weight.kind = "parameter";
  document.weights.push_back(std::move(weight));
  document.weightNames.emplace_back(value, key);
}

/// x ► layers of linear and relu, each in a module of its own ► y. The weights of all layers have one shape.
inline Document layered(size_t layers, int64_t width = 8) {
  Document document;
  document.modelName = "layered";
  document.graph.inputs = {tensor("x", {2, width})};
  Tensor last = tensor("x", {2, width}, "x");
  for (size_t i = 0; i < layers; ++i) {
    std::string number = std::to_string(i), module = "layers." + number;
    addWeight(document, module + ".weight", "p_" + number, {width, width});
    document.graph.nodes.push_back(node("linear_" + number, "aten.linear.default",
                                        {last, tensor("p_" + number, {width, width})}, {2, width}, module));
    document.graph.nodes.push_back(node("relu_" + number, "aten.relu.default",
                                        {tensor("linear_" + number, {2, width}, "linear_" + number)}, {2, width},
                                        module));
    last = tensor("relu_" + number, {2, width}, "relu_" + number);
  }
  document.graph.outputs = {tensor(last.name, {2, width})};
  return document;
}

/// The example of the older format: a scaled signal's row maximum, concatenated, two entries picked.
inline const char *const peak = R"json({
  "model_name": "Peak", "pytorch_version": "2.13.0",
  "graph_inputs": [{"name": "sig", "shape": [2, 3], "dtype": "float32"}],
  "graph_outputs": [{"name": "index", "shape": [2], "dtype": "float32"}, {"name": "getitem_1", "shape": [2], "dtype": "int64"}],
  "weights": [{"name": "gain", "shape": [3], "dtype": "float32"}, {"name": "pick", "shape": [2], "dtype": "int64"}],
  "weight_name_mapping": {"p_gain": "gain", "c_pick": "pick"},
  "nodes": [
    {"name": "mul", "op_type": "aten.mul.Tensor", "inputs": [
       {"name": "sig", "shape": [2, 3], "dtype": "float32", "producer_node": "sig", "producer_output_idx": 0},
       {"name": "p_gain", "shape": [3], "dtype": "float32"}],
     "outputs": [{"name": "mul", "shape": [2, 3], "dtype": "float32"}], "attrs": {}},
    {"name": "max_1", "op_type": "aten.max.dim", "inputs": [
       {"name": "mul", "shape": [2, 3], "dtype": "float32", "producer_node": "mul", "producer_output_idx": 0}],
     "outputs": [{"name": "max_1_0", "shape": [2], "dtype": "float32"}, {"name": "max_1_1", "shape": [2], "dtype": "int64"}],
     "attrs": {"dim": 1}},
    {"name": "getitem", "op_type": "<built-in function getitem>", "inputs": [
       {"name": "max_1_0", "shape": [2], "dtype": "float32", "producer_node": "max_1", "producer_output_idx": 0},
       {"name": "max_1_1", "shape": [2], "dtype": "int64", "producer_node": "max_1", "producer_output_idx": 1}],
     "outputs": [{"name": "getitem", "shape": [2], "dtype": "float32"}], "attrs": {"index": 0}},
    {"name": "getitem_1", "op_type": "<built-in function getitem>", "inputs": [
       {"name": "max_1_0", "shape": [2], "dtype": "float32", "producer_node": "max_1", "producer_output_idx": 0},
       {"name": "max_1_1", "shape": [2], "dtype": "int64", "producer_node": "max_1", "producer_output_idx": 1}],
     "outputs": [{"name": "getitem_1", "shape": [2], "dtype": "int64"}], "attrs": {"index": 1}},
    {"name": "cat", "op_type": "aten.cat.default", "inputs": [
       {"name": "getitem", "shape": [2], "dtype": "float32", "producer_node": "getitem", "producer_output_idx": 0},
       {"name": "getitem", "shape": [2], "dtype": "float32", "producer_node": "getitem", "producer_output_idx": 0}],
     "outputs": [{"name": "cat", "shape": [4], "dtype": "float32"}], "attrs": {"_tensor_list_sizes": [2]}},
    {"name": "index", "op_type": "aten.index.Tensor", "inputs": [
       {"name": "cat", "shape": [4], "dtype": "float32", "producer_node": "cat", "producer_output_idx": 0},
       {"name": "c_pick", "shape": [2], "dtype": "int64"}],
     "outputs": [{"name": "index", "shape": [2], "dtype": "float32"}], "attrs": {"_tensor_list_sizes": [1]}}],
  "constants": {"pick": {"data": [2, 0], "dtype": "int64"}}})json";

} // namespace ingot::graph::test
