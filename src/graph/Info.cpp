#include "graph/Info.h"

#include "graph/Text.h"

#include <algorithm>
#include <map>

using namespace ingot::graph;

namespace {

Json shapesJson(const std::vector<Tensor> &tensors) {
  Json list = Json::array();
  for (const Tensor &tensor : tensors) {
    Json shape = Json::array();
    for (const Size &size : tensor.shape)
      std::visit([&](const auto &value) { shape.push_back(value); }, size);
    list.push_back(std::move(shape));
  }
  return list;
}

std::string tensorLines(const char *title, const std::vector<Tensor> &tensors) {
  std::string text = std::string(title) + "\n";
  for (const Tensor &tensor : tensors)
    text += "  " + tensor.name + ": [" + shapeText(tensor.shape, ", ") + "] " + tensor.dtype + "\n";
  return text;
}

struct BothCounts {
  std::string name;
  uint64_t first = 0, second = 0;

  int64_t delta() const { return static_cast<int64_t>(second) - static_cast<int64_t>(first); }
};

std::vector<BothCounts> bothCounts(const Document &first, const Document &second) {
  std::map<std::string, BothCounts> rows;
  for (const OpCount &row : countOperators(first))
    rows[row.name].first = row.count;
  for (const OpCount &row : countOperators(second))
    rows[row.name].second = row.count;
  std::vector<BothCounts> sorted;
  for (auto &[name, row] : rows) {
    row.name = name;
    sorted.push_back(row);
  }
  std::ranges::sort(sorted, [](const BothCounts &a, const BothCounts &b) {
    uint64_t most = std::max(a.first, a.second), other = std::max(b.first, b.second);
    return most != other ? most > other : a.name < b.name;
  });
  return sorted;
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string rightAligned(const std::string &text, size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

} // namespace

std::vector<OpCount> ingot::graph::countOperators(const Document &document) {
  std::map<std::string, OpCount> counts;
  for (const FlatNode &node : flatten(document).nodes) {
    OpCount &row = counts[node.node->opType];
    if (row.count++ == 0)
      row = {node.node->opType, isGetItem(*node.node) ? "getitem" : shortOp(*node.node), 1};
  }
  std::vector<OpCount> rows;
  for (auto &[name, row] : counts)
    rows.push_back(std::move(row));
  std::ranges::sort(rows, [](const OpCount &a, const OpCount &b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  return rows;
}

std::string ingot::graph::weightKind(const Document &document, const Weight &weight) {
  if (!weight.kind.empty())
    return weight.kind;
  bool isConstant =
      std::ranges::any_of(document.constants, [&](const auto &entry) { return entry.first == weight.name; });
  return isConstant ? "constant" : "parameter";
}

WeightCount ingot::graph::countWeights(const Document &document) {
  WeightCount count;
  for (const Weight &weight : document.weights) {
    if (!weight.sameAs.empty())
      continue;
    std::string kind = weightKind(document, weight);
    uint64_t &elements = kind == "buffer" ? count.buffers : kind == "constant" ? count.constants : count.parameters;
    elements += elementCount(weight).value_or(0);
    count.bytes += byteCount(weight);
  }
  return count;
}

Json ingot::graph::infoJson(const Document &document) {
  WeightCount weights = countWeights(document);
  Json ops = Json::object();
  uint64_t nodes = 0;
  for (const OpCount &row : countOperators(document)) {
    ops[row.name] = row.count;
    nodes += row.count;
  }
  return {{"model_name", document.modelName},
          {"num_nodes", nodes},
          {"num_inputs", document.graph.inputs.size()},
          {"num_outputs", document.graph.outputs.size()},
          {"num_weights", document.weights.size()},
          {"total_parameters", weights.parameters},
          {"total_buffers", weights.buffers},
          {"total_constants", weights.constants},
          {"weight_bytes", weights.bytes},
          {"input_shapes", shapesJson(document.graph.inputs)},
          {"output_shapes", shapesJson(document.graph.outputs)},
          {"op_distribution", std::move(ops)}};
}

std::string ingot::graph::infoText(const Document &document) {
  std::vector<OpCount> ops = countOperators(document);
  uint64_t nodes = 0;
  size_t width = 0;
  for (const OpCount &row : ops) {
    nodes += row.count;
    width = std::max(width, row.name.size());
  }
  WeightCount weights = countWeights(document);
  std::string text = "Model: " + document.modelName + "\n";
  auto number = [&](const char *title, uint64_t value) {
    text += std::string(title) + ": " + withSeparators(value) + "\n";
  };
  number("Nodes", nodes);
  number("Inputs", document.graph.inputs.size());
  number("Outputs", document.graph.outputs.size());
  number("Weights", document.weights.size());
  number("Total parameters", weights.parameters);
  if (weights.buffers > 0)
    number("Elements of buffers", weights.buffers);
  if (weights.constants > 0)
    number("Elements of constants", weights.constants);
  number("Weight bytes", weights.bytes);
  text += tensorLines("Input shapes:", document.graph.inputs);
  text += tensorLines("Output shapes:", document.graph.outputs);
  text += "Op distribution:\n";
  for (const OpCount &row : ops)
    text += "  " + padded(row.name, width) + "  " + withSeparators(row.count) + "\n";
  return text;
}

Json ingot::graph::compareInfoJson(const Document &first, const Document &second) {
  Json ops = Json::object();
  for (const BothCounts &row : bothCounts(first, second))
    ops[row.name] = {{"first", row.first}, {"second", row.second}, {"delta", row.delta()}};
  return {{"first", infoJson(first)}, {"second", infoJson(second)}, {"ops", std::move(ops)}};
}

std::string ingot::graph::compareInfoText(const Document &first, const Document &second) {
  BothCounts total{"total"};
  std::vector<BothCounts> rows = bothCounts(first, second);
  size_t width = total.name.size();
  for (const BothCounts &row : rows) {
    width = std::max(width, row.name.size());
    total.first += row.first;
    total.second += row.second;
  }
  rows.push_back(total);
  std::string text = "  " + padded("op", width) + "       first      second       delta\n";
  for (const BothCounts &row : rows) {
    std::string delta = (row.delta() > 0 ? "+" : "") + std::to_string(row.delta());
    text += (row.delta() != 0 ? "* " : "  ") + padded(row.name, width) + rightAligned(withSeparators(row.first), 12) +
            rightAligned(withSeparators(row.second), 12) + rightAligned(delta, 12) + "\n";
  }
  return text;
}
