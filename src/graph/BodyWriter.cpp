#include "graph/BodyWriter.h"

#include "graph/OpNames.h"
#include "pt2/Names.h"
#include "pt2/SourceLocation.h"

#include <algorithm>

namespace ingot::graph {

using pt2::Argument;
using pt2::ArgumentKind;

namespace {

std::string placeText(const std::vector<int64_t> &place) {
  std::string text;
  for (int64_t index : place)
    text += "_" + std::to_string(index);
  return text;
}

/// Whether an argument is, or holds, values of the graph.
bool hasValues(const Argument &argument) {
  bool found = false;
  pt2::forEachValueName(argument, [&](const std::string &) { found = true; });
  return found || argument.is(ArgumentKind::Graph);
}

bool isNone(const Argument &argument) {
  return argument.isNone() || (argument.is(ArgumentKind::OptionalTensor) && !argument.asOptionalTensor());
}

/// Which items of a list of tensors are None.
std::optional<std::vector<bool>> noneMask(const Argument &argument) {
  if (argument.is(ArgumentKind::Tensors))
    return std::vector<bool>(argument.asTensors().size(), false);
  if (!argument.is(ArgumentKind::OptionalTensors))
    return std::nullopt;
  std::vector<bool> mask;
  for (const std::optional<std::string> &name : argument.asOptionalTensors())
    mask.push_back(!name);
  return mask;
}

} // namespace

std::string nameOfValue(const Argument &argument) {
  std::string name;
  switch (argument.kind) {
  case ArgumentKind::Tensor:
  case ArgumentKind::OptionalTensor:
  case ArgumentKind::SymInt:
  case ArgumentKind::SymFloat:
  case ArgumentKind::SymBool:
  case ArgumentKind::CustomObj:
    pt2::forEachValueName(argument, [&](const std::string &found) { name = found; });
    return name;
  default:
    return "";
  }
}

Tensor BodyWriter::tensor(const std::string &value) {
  Tensor tensor;
  tensor.name = value;
  const pt2::TensorMeta *meta = graph.findTensor(value);
  if (!meta)
    return tensor;
  tensor.shape = symbols.sizes(meta->sizes);
  tensor.dtype = dtypeName(meta->dtype);
  if (meta->layout != pt2::Layout::Strided)
    tensor.layout = pt2::layoutName(meta->layout);
  else if (!SymbolWriter::isContiguous(*meta))
    tensor.strides = symbols.sizes(meta->strides);
  tensor.offset = symbols.size(meta->storageOffset);
  if (meta->device.type != "cpu" && meta->device.type != "meta")
    tensor.device = pt2::deviceText(meta->device);
  return tensor;
}

Tensor BodyWriter::used(const std::string &value) {
  Tensor input = tensor(value);
  if (auto producer = producers.find(value); producer != producers.end()) {
    input.producerNode = producer->second.node;
    input.producerIndex = producer->second.index;
  }
  return input;
}

std::optional<Scalar> BodyWriter::scalar(const std::string &value) {
  if (auto found = graph.symIntValues.find(value); found != graph.symIntValues.end())
    return Scalar{value, "int", symbols.text(found->second)};
  if (auto found = graph.symFloatValues.find(value); found != graph.symFloatValues.end())
    return Scalar{value, "float", symbols.text(found->second)};
  if (auto found = graph.symBoolValues.find(value); found != graph.symBoolValues.end())
    return Scalar{value, "bool", symbols.text(found->second)};
  return std::nullopt;
}

Json BodyWriter::signatureEntry(std::string_view kind, const Argument &value) {
  Json entry = Json::object();
  std::string name = nameOfValue(value);
  if (!name.empty())
    entry["name"] = name;
  entry["kind"] = kind;
  if (std::optional<Scalar> found = scalar(name)) {
    entry["type"] = found->type;
    entry["expr"] = found->expr;
  } else if (value.is(ArgumentKind::CustomObj)) {
    entry["class"] = value.asCustomObj().className;
  } else if (name.empty()) {
    entry["value"] = values.value(value);
  }
  return entry;
}

std::string BodyWriter::addBody(const pt2::SubGraph &sub) {
  Body made;
  BodyWriter writer(symbols, *sub.graph, made);
  Json inputs = Json::array(), outputs = Json::array();
  bool isPlain = true;
  for (const Argument &input : sub.graph->inputs) {
    std::string name = nameOfValue(input);
    writer.addInput(name);
    if (input.is(ArgumentKind::Tensor))
      made.inputs.push_back(writer.tensor(name));
    inputs.push_back(writer.signatureEntry("user_input", input));
    isPlain &= input.is(ArgumentKind::Tensor);
  }
  writer.addNodes();
  for (const Argument &output : sub.graph->outputs) {
    if (output.is(ArgumentKind::Tensor))
      made.outputs.push_back(writer.tensor(output.asTensor()));
    outputs.push_back(writer.signatureEntry("user_output", output));
    isPlain &= output.is(ArgumentKind::Tensor);
  }
  if (!isPlain) {
    made.signature = Json::object();
    made.signature["inputs"] = std::move(inputs);
    made.signature["outputs"] = std::move(outputs);
  }
  // A body that is used twice is written once; another one of the same name gets a number.
  std::string name = sub.name;
  for (int number = 1; body.subgraphs.contains(name) && !(body.subgraphs.at(name) == made); ++number)
    name = sub.name + "_" + std::to_string(number);
  body.subgraphs.try_emplace(name, std::move(made));
  return name;
}

void BodyWriter::addInputs(const Argument &argument, Node &node) {
  pt2::forEachValueName(argument, [&](const std::string &name) {
    if (graph.findTensor(name))
      node.inputs.push_back(used(name));
  });
}

void BodyWriter::addArguments(const pt2::Node &from, const pt2::OpSchema *schema, Node &node) {
  node.args.emplace();
  auto add = [&](const std::string &name, const pt2::NamedArgument &input) {
    ArgumentRecord record = values.record(input.value);
    record.name = name;
    record.keyword = input.passedAs == pt2::PassedAs::Keyword;
    node.args->push_back(std::move(record));
  };
  for (const pt2::SchemaArgument &declared : schema ? schema->arguments : std::vector<pt2::SchemaArgument>()) {
    auto given = std::ranges::find(from.inputs, declared.name, &pt2::NamedArgument::name);
    if (given != from.inputs.end())
      add(declared.name, *given);
    else if (declared.defaultValue)
      node.args->push_back({declared.name, "default", values.value(*declared.defaultValue)});
  }
  for (size_t i = 0; i < from.inputs.size(); ++i) {
    const pt2::NamedArgument &input = from.inputs[i];
    if (!schema || !schema->findArgument(input.name))
      add(input.name.empty() ? "arg" + std::to_string(i) : input.name, input);
  }
}

void BodyWriter::addAttributes(const pt2::Node &from, const pt2::OpSchema *schema, Node &node) {
  // Operands of control flow and of Python's operators have no names that older readers know.
  bool isOperator = schema || (pt2::qualifiedNameOfTarget(from.target) && from.target != node.opType);
  Json sizes = Json::array(), masks = Json::array();
  bool hasNone = false;
  for (const pt2::NamedArgument &input : from.inputs) {
    const pt2::SchemaArgument *declared = schema ? schema->findArgument(input.name) : nullptr;
    std::optional<std::vector<bool>> mask = noneMask(input.value);
    if (declared && declared->type.isTensorList() && mask) {
      ptrdiff_t nones = std::ranges::count(*mask, true);
      sizes.push_back(static_cast<ptrdiff_t>(mask->size()) - nones);
      masks.push_back(Json(*mask));
      hasNone |= nones > 0;
    }
    bool isNoTensor = isNone(input.value) && declared && declared->type.base == pt2::TypeKind::Tensor;
    bool isNamed = !input.name.empty() && (isOperator || input.passedAs == pt2::PassedAs::Keyword);
    if (isNamed && !isNoTensor && !hasValues(input.value))
      node.attrs[input.name] = values.value(input.value);
  }
  if (!sizes.empty())
    node.attrs["_tensor_list_sizes"] = std::move(sizes);
  if (hasNone)
    node.attrs["_tensor_list_none_masks"] = std::move(masks);
}

void BodyWriter::describe(const pt2::Node &from, Node &node) {
  pt2::SourceLocation location = pt2::locate(from.metadata);
  node.module = std::move(location.modulePath);
  node.moduleType = std::move(location.moduleType);
  if (location.frame)
    node.source = Source{location.frame->file, location.frame->line, location.frame->function, location.frame->code};
}

void BodyWriter::addNode(const pt2::Node &from) {
  const pt2::OpSchema *schema = schemaOfTarget(from.target);
  Node node;
  node.name = from.name;
  if (node.name.empty() && !from.outputs.empty())
    node.name = nameOfValue(from.outputs.front());
  node.opType = opTypeOfTarget(from.target);
  for (const pt2::NamedArgument &input : from.inputs) {
    addInputs(input.value, node);
    const pt2::SchemaArgument *declared = schema ? schema->findArgument(input.name) : nullptr;
    if (declared && declared->alias && declared->alias->isWrite)
      pt2::forEachValueName(input.value, [&](const std::string &name) { node.mutates.push_back(name); });
  }
  addArguments(from, schema, node);
  addAttributes(from, schema, node);
  describe(from, node);

  bool isList = from.outputs.size() == 1 && from.outputs[0].is(ArgumentKind::Tensors);
  bool isSingle = from.outputs.size() == 1 && !isList &&
                  (schema ? schema->returns.size() == 1 : nameOfValue(from.outputs[0]) == node.name);
  if (isSingle) {
    addSingleResult(from.outputs[0], node);
    body.nodes.push_back(std::move(node));
    return;
  }
  std::vector<Result> results;
  for (size_t i = 0; i < from.outputs.size(); ++i) {
    int64_t index = static_cast<int64_t>(i);
    const Argument &output = from.outputs[i];
    if (!output.is(ArgumentKind::Tensors)) {
      results.push_back({nameOfValue(output), {index}});
      continue;
    }
    for (size_t j = 0; j < output.asTensors().size(); ++j) {
      int64_t item = static_cast<int64_t>(j);
      results.push_back({output.asTensors()[j], isList ? std::vector{item} : std::vector{index, item}});
    }
  }
  addResults(results, std::move(node));
}

void BodyWriter::addSingleResult(const Argument &output, Node &node) {
  std::string value = nameOfValue(output);
  producers[value] = {node.name, 0};
  if (std::optional<Scalar> found = scalar(value))
    node.scalars.push_back(std::move(*found));
  else if (!value.empty())
    node.outputs.push_back(tensor(value));
  else
    node.scalars.push_back({node.name, "none", "None"});
}

void BodyWriter::addResults(const std::vector<Result> &results, Node node) {
  for (const Result &result : results) {
    std::string name = node.name + placeText(result.place);
    if (std::optional<Scalar> found = scalar(result.value)) {
      node.scalars.push_back({name, found->type, found->expr});
    } else if (result.value.empty()) {
      node.scalars.push_back({name, "none", "None"});
    } else {
      node.outputs.push_back(tensor(result.value));
      node.outputs.back().name = name;
    }
  }
  body.nodes.push_back(node);
  for (const Result &result : results)
    if (!result.value.empty() && result.value != node.name + "_unused" + placeText(result.place))
      addGetItem(node, result);
}

void BodyWriter::addGetItem(const Node &producer, const Result &result) {
  Node node;
  node.name = result.value;
  node.opType = kGetItem;
  for (size_t i = 0; i < producer.outputs.size(); ++i) {
    node.inputs.push_back(producer.outputs[i]);
    node.inputs.back().producerNode = producer.name;
    node.inputs.back().producerIndex = static_cast<int64_t>(i);
  }
  node.attrs["index"] = result.place.size() == 1 ? Json(result.place[0]) : Json(result.place);
  node.module = producer.module;
  node.moduleType = producer.moduleType;
  node.source = producer.source;
  producers[result.value] = {result.value, 0};
  if (std::optional<Scalar> found = scalar(result.value))
    node.scalars.push_back(std::move(*found));
  else
    node.outputs.push_back(tensor(result.value));
  body.nodes.push_back(std::move(node));
}

void BodyWriter::addNodes() {
  for (const pt2::Node &node : graph.nodes)
    addNode(node);
}

} // namespace ingot::graph
