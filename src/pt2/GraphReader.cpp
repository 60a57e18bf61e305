#include "pt2/ProgramReader.h"

using namespace ingot;
using namespace ingot::pt2;

namespace {

Result<NamedArgument> readNamedArgument(JsonRef json, const JsonReadOptions &options) {
  NamedArgument named;
  INGOT_TRY(named.name, readName(json));
  INGOT_TRY(JsonRef value, json.member("arg"));
  INGOT_TRY(named.value, readArgument(value, options));
  INGOT_TRY(auto kind, json.optionalMember("kind"));
  if (kind) {
    INGOT_TRY(int64_t code, kind->integer());
    if (code < 0 || code > static_cast<int64_t>(PassedAs::Keyword))
      return kind->unsupported("is the unknown argument kind " + std::to_string(code));
    named.passedAs = static_cast<PassedAs>(code);
  }
  return named;
}

Result<NodeMetadata> readMetadata(JsonRef json) {
  NodeMetadata metadata;
  INGOT_CHECK(json.forEachMember([&](const std::string &key, JsonRef value) -> Status {
    // Values are strings today; anything else is somebody's extension and not needed.
    if (!value.isString())
      return {};
    const std::string &text = value.json().get_ref<const std::string &>();
    if (key == "stack_trace")
      metadata.stackTrace = text;
    else if (key == "nn_module_stack")
      metadata.moduleStack = text;
    else if (key == "torch_fn")
      metadata.torchFn = text;
    else
      metadata.other.emplace(key, text);
    return {};
  }));
  return metadata;
}

Result<std::vector<Argument>> readArguments(JsonRef json, const JsonReadOptions &options) {
  return json.list([&](JsonRef item) { return readArgument(item, options); });
}

/// Sizes that depend on data are compared with products of the largest integer, which none of them reaches.
bool isComparisonOfSizes(std::string_view target) {
  return target == "_operator.le" || target == "_operator.lt" || target == "_operator.ge" || target == "_operator.gt";
}

Result<Node> readNode(JsonRef json, const JsonReadOptions &options) {
  Node node;
  INGOT_TRY(JsonRef target, json.member("target"));
  INGOT_TRY(node.target, target.string());
  INGOT_TRY(JsonRef inputs, json.member("inputs"));
  JsonReadOptions inputOptions = options;
  inputOptions.clampsIntegers = isComparisonOfSizes(node.target);
  INGOT_TRY(node.inputs, inputs.list([&](JsonRef item) { return readNamedArgument(item, inputOptions); }));
  INGOT_TRY(JsonRef outputs, json.member("outputs"));
  INGOT_TRY(node.outputs, readArguments(outputs, options));
  INGOT_TRY(auto name, json.optionalMember("name"));
  if (name) {
    INGOT_TRY(node.name, name->string());
  }
  INGOT_TRY(auto single, json.optionalMember("is_hop_single_tensor_return"));
  if (single) {
    INGOT_TRY(node.hopReturnsSingleTensor, single->boolean());
  }
  INGOT_TRY(auto metadata, json.optionalMember("metadata"));
  if (metadata && options.keepMetadata) {
    INGOT_TRY(node.metadata, readMetadata(*metadata));
  }
  return node;
}

template <typename T>
Status readValues(JsonRef graph, std::string_view member, Result<T> (*read)(JsonRef), NameMap<T> &values) {
  INGOT_TRY(auto table, graph.optionalMember(member));
  if (!table)
    return {};
  return table->forEachMember([&](const std::string &name, JsonRef json) -> Status {
    INGOT_TRY(T value, read(json));
    values.emplace_hint(values.end(), name, std::move(value));
    return {};
  });
}

} // namespace

Result<Graph> pt2::readGraph(JsonRef json, const JsonReadOptions &options) {
  Graph graph;
  INGOT_TRY(JsonRef inputs, json.member("inputs"));
  INGOT_TRY(graph.inputs, readArguments(inputs, options));
  INGOT_TRY(JsonRef outputs, json.member("outputs"));
  INGOT_TRY(graph.outputs, readArguments(outputs, options));
  INGOT_TRY(JsonRef nodes, json.member("nodes"));
  INGOT_TRY(graph.nodes, nodes.list([&](JsonRef item) { return readNode(item, options); }));
  INGOT_CHECK(readValues(json, "tensor_values", readTensorMeta, graph.tensorValues));
  INGOT_CHECK(readValues(json, "sym_int_values", readSymInt, graph.symIntValues));
  INGOT_CHECK(readValues(json, "sym_float_values", readSymFloat, graph.symFloatValues));
  INGOT_CHECK(readValues(json, "sym_bool_values", readSymBool, graph.symBoolValues));
  INGOT_CHECK(readValues(json, "custom_obj_values", readCustomObj, graph.customObjValues));
  INGOT_TRY(auto single, json.optionalMember("is_single_tensor_return"));
  if (single) {
    INGOT_TRY(graph.returnsSingleTensor, single->boolean());
  }
  repairShapes(graph);
  return graph;
}
