#include "graph/Converters.h"

#include "graph/Reader.h"
#include "graph/Writer.h"

#include <unordered_map>
#include <unordered_set>

namespace ingot::graph {

namespace {

/// A converter's new nodes, as it hands them over.
struct Sink {
  std::vector<Node> nodes;
  Status problem;

  static void take(void *sink, const char *text) {
    auto &self = *static_cast<Sink *>(sink);
    Result<Node> node = readNode(text ? text : "");
    if (node)
      self.nodes.push_back(*std::move(node));
    else if (self.problem)
      self.problem = std::move(node.error());
  }
};

/// One graph of the document; bodies of control flow have names of their own.
class Rewriter {
public:
  Rewriter(Body &body, std::span<const ingot_converter> converters) : body(body), converters(converters) {}

  Status run() {
    std::vector<Node> made;
    std::unordered_set<std::string> names;
    for (Node &node : body.nodes) {
      redirect(node);
      INGOT_TRY(std::vector<Node> replaced, convert(node));
      for (Node &added : replaced) {
        if (!names.insert(added.name).second)
          return usageError("converters made several nodes called '" + added.name + "'");
        made.push_back(std::move(added));
      }
    }
    body.nodes = std::move(made);
    for (Tensor &output : body.outputs)
      redirectTensor(output);
    redirectSignature(body.signature);
    for (auto &[name, inner] : body.subgraphs)
      INGOT_CHECK(Rewriter(inner, converters).run());
    return {};
  }

  void redirectSignature(Json &signature) const {
    if (!signature.is_object() || !signature.contains("outputs") || !signature["outputs"].is_array())
      return;
    for (Json &output : signature["outputs"])
      if (output.is_object() && output.contains("name") && output["name"].is_string())
        if (auto found = moved.find(output["name"].get<std::string>()); found != moved.end())
          output["name"] = found->second.name;
  }

private:
  const ingot_converter *find(const std::string &opType) const {
    const ingot_converter *whole = nullptr;
    for (auto candidate = converters.rbegin(); candidate != converters.rend(); ++candidate) {
      if (opType == candidate->pattern)
        return &*candidate;
      if (!whole && matchesOperator(candidate->pattern, opType))
        whole = &*candidate;
    }
    return whole;
  }

  Result<std::vector<Node>> convert(Node &node) {
    const ingot_converter *converter = find(node.opType);
    if (!converter)
      return std::vector<Node>{std::move(node)};
    Sink sink;
    const std::string text = toJson(node).dump();
    const bool isDone = converter->convert(text.c_str(), &Sink::take, &sink, converter->user) == INGOT_PLUGIN_OK;
    const std::string place = "node '" + node.name + "' (" + node.opType + "): ";
    if (!isDone)
      return usageError(place + "its converter failed");
    if (!sink.problem)
      return usageError(place + "its converter gave a node that cannot be read: " + sink.problem.error().str());
    INGOT_CHECK(lead(node, sink.nodes));
    return std::move(sink.nodes);
  }

  /// Remembers what takes the place of the node's results.
  Status lead(const Node &node, const std::vector<Node> &made) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Tensor &output = node.outputs[i];
      if (made.empty()) {
        if (node.inputs.empty())
          return usageError("node '" + node.name + "' cannot be dropped: it has no input that could take its place");
        moved[output.name] = node.inputs.front();
        continue;
      }
      std::optional<Tensor> same = outputNamed(made, output.name);
      if (!same && i >= made.back().outputs.size())
        return usageError("node '" + node.name + "': the new node '" + made.back().name + "' has no output number " +
                          std::to_string(i));
      moved[output.name] = same ? *same : reference(made.back(), i);
    }
    return {};
  }

  static std::optional<Tensor> outputNamed(const std::vector<Node> &nodes, const std::string &name) {
    for (const Node &node : nodes)
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i].name == name)
          return reference(node, i);
    return std::nullopt;
  }

  static Tensor reference(const Node &node, size_t index) {
    Tensor tensor = node.outputs[index];
    tensor.producerNode = node.name;
    tensor.producerIndex = static_cast<int64_t>(index);
    return tensor;
  }

  void redirectTensor(Tensor &tensor) const {
    auto found = moved.find(tensor.name);
    if (found == moved.end())
      return;
    const bool hadProducer = tensor.producerNode.has_value();
    tensor.name = found->second.name;
    if (hadProducer) {
      tensor.producerNode = found->second.producerNode;
      tensor.producerIndex = found->second.producerIndex;
    }
  }

  void redirectNames(Json &value) const {
    if (value.is_array()) {
      for (Json &item : value)
        redirectNames(item);
    } else if (value.is_string()) {
      if (auto found = moved.find(value.get<std::string>()); found != moved.end())
        value = found->second.name;
    }
  }

  void redirect(Node &node) const {
    for (Tensor &input : node.inputs)
      redirectTensor(input);
    if (node.args)
      for (ArgumentRecord &argument : *node.args)
        if (argument.kind == "tensor" || argument.kind == "tensors")
          redirectNames(argument.value);
    for (std::string &written : node.mutates)
      if (auto found = moved.find(written); found != moved.end())
        written = found->second.name;
  }

  Body &body;
  std::span<const ingot_converter> converters;
  std::unordered_map<std::string, Tensor> moved; ///< result ► what takes its place
};

} // namespace

bool matchesOperator(std::string_view pattern, std::string_view opType) {
  if (pattern == opType)
    return true;
  // "aten.add" and "aten.add.Tensor": the pattern is all but the overload.
  const size_t dot = opType.rfind('.');
  return dot != opType.npos && opType.substr(0, dot) == pattern && pattern.find('.') != pattern.npos;
}

Status convertNodes(Document &document, std::span<const ingot_converter> converters) {
  if (converters.empty())
    return {};
  Rewriter rewriter(document.graph, converters);
  INGOT_CHECK(rewriter.run());
  rewriter.redirectSignature(document.signature);
  return {};
}

} // namespace ingot::graph
