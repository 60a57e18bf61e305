#include "graph/BodyReader.h"

#include "graph/OpNames.h"
#include "graph/Rebuild.h"

#include <algorithm>
#include <charconv>

namespace ingot::graph {

using pt2::Argument;
using pt2::ArgumentKind;

namespace {

constexpr size_t kMaxDepth = 64;
constexpr int64_t kMostResults = 1 << 16;
constexpr size_t kMostNodes = 1 << 22;

/// "max_1_0" of node "max_1" ► {0}, "op_1_0" of node "op" ► {1, 0}; empty for names of another form.
std::vector<int64_t> placeFromName(const std::string &node, std::string_view name) {
  std::vector<int64_t> place;
  if (!name.starts_with(node))
    return place;
  for (name.remove_prefix(node.size()); !name.empty();) {
    int64_t index = 0;
    if (name.front() != '_')
      return {};
    name.remove_prefix(1);
    auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (failure != std::errc() || index < 0 || index >= kMostResults)
      return {};
    place.push_back(index);
    name.remove_prefix(static_cast<size_t>(end - name.data()));
  }
  return place.size() > 2 ? std::vector<int64_t>() : place;
}

std::string placeText(const std::vector<int64_t> &place) {
  std::string text;
  for (int64_t index : place)
    text += "_" + std::to_string(index);
  return text;
}

std::vector<int64_t> indexOf(const Json &attrs) {
  if (!attrs.contains("index"))
    return {0};
  const Json &index = attrs["index"];
  return index.is_array() ? index.get<std::vector<int64_t>>() : std::vector{index.get<int64_t>()};
}

std::string textOf(const Json &entry, const char *key) {
  bool isText = entry.is_object() && entry.contains(key) && entry[key].is_string();
  return isText ? entry[key].get<std::string>() : "";
}

/// The trace and the modules as torch writes them.
pt2::NodeMetadata metadataOf(const Node &node) {
  pt2::NodeMetadata metadata;
  if (node.source) {
    metadata.stackTrace = "  File \"" + node.source->file + "\", line " + std::to_string(node.source->line);
    if (!node.source->function.empty())
      metadata.stackTrace += ", in " + node.source->function;
    metadata.stackTrace += "\n";
    if (!node.source->code.empty())
      metadata.stackTrace += "    " + node.source->code + "\n";
  }
  if (!node.module.empty() || !node.moduleType.empty())
    metadata.moduleStack = "module," + node.module + "," + node.moduleType;
  return metadata;
}

} // namespace

BodyReader::BodyReader(const Document &document, const Body &body, size_t depth)
    : document(document), body(body), depth(depth), symbols(document),
      values({[this](const std::string &name) { return value(name); },
              [this](const std::string &name) { return subGraph(name); }}) {}

Result<pt2::TensorMeta> BodyReader::meta(const Tensor &tensor) const {
  pt2::TensorMeta meta;
  std::optional<DType> dtype = dtypeFromText(tensor.dtype);
  if (!dtype)
    return corruptError("'" + tensor.name + "' has the unknown dtype '" + tensor.dtype + "'");
  meta.dtype = *dtype;
  INGOT_TRY(meta.sizes, symbols.sizes(tensor.shape));
  if (tensor.strides.size() == tensor.shape.size()) {
    INGOT_TRY(meta.strides, symbols.sizes(tensor.strides));
  } else {
    meta.strides = SymbolReader::contiguousStrides(meta.sizes);
  }
  INGOT_TRY(meta.storageOffset, symbols.size(tensor.offset));
  meta.device = tensor.device.empty() ? pt2::Device{"cpu", std::nullopt} : deviceFromText(tensor.device);
  if (!tensor.layout.empty())
    meta.layout = layoutFromName(tensor.layout).value_or(pt2::Layout::Unknown);
  return meta;
}

Status BodyReader::define(const std::string &name, const std::string &type, const std::string &expr) {
  if (type == "int") {
    INGOT_TRY(graph.symIntValues[name], symbols.integer(expr));
    named[name] = Argument::makeSymInt(name);
  } else if (type == "float") {
    INGOT_TRY(graph.symFloatValues[name], symbols.number(expr));
    named[name] = Argument::makeSymFloat(name);
  } else if (type == "bool") {
    INGOT_TRY(graph.symBoolValues[name], symbols.boolean(expr));
    named[name] = Argument::makeSymBool(name);
  } else {
    return corruptError("'" + name + "' has the unknown type '" + type + "'");
  }
  return {};
}

Result<Argument> BodyReader::value(const std::string &name) const {
  auto found = named.find(name);
  if (found == named.end())
    return corruptError("there is no value '" + name + "' yet");
  return found->second;
}

Result<pt2::SubGraph> BodyReader::subGraph(const std::string &name) {
  auto found = body.subgraphs.find(name);
  if (found == body.subgraphs.end())
    return corruptError("there is no sub-graph '" + name + "'");
  if (depth >= kMaxDepth)
    return unsupportedError("sub-graphs are nested too deeply");
  Made &made = bodies[name];
  if (!made.graph) {
    BodyReader inner(document, found->second, depth + 1);
    Result<pt2::Graph> read = inner.readWhole();
    if (!read)
      return std::move(read.error()).note("in sub-graph '" + name + "'");
    made = {std::make_shared<const pt2::Graph>(*std::move(read)), inner.nodeCount};
  }
  // Few bodies that use each other often would be a program without end.
  nodeCount += made.nodeCount;
  if (nodeCount > kMostNodes)
    return unsupportedError("the program has more than " + std::to_string(kMostNodes) + " nodes");
  return pt2::SubGraph{name, made.graph};
}

//===----------------------------------------------------------------------===//
// Inputs and outputs of the graph
//===----------------------------------------------------------------------===//

Status BodyReader::addTensorInput(const std::string &name, const Tensor &tensor) {
  INGOT_TRY(graph.tensorValues[name], meta(tensor));
  named[name] = Argument::makeTensor(name);
  tensorsOf[name] = {named[name]};
  graph.inputs.push_back(named[name]);
  return {};
}

Status BodyReader::addInput(const Json &entry) {
  std::string name = textOf(entry, "name"), type = textOf(entry, "type"), className = textOf(entry, "class");
  if (!type.empty()) {
    INGOT_CHECK(define(name, type, textOf(entry, "expr")));
  } else if (!className.empty()) {
    graph.customObjValues[name] = {name, className};
    named[name] = Argument::makeCustomObj({name, className});
  } else if (name.empty()) {
    INGOT_TRY(Argument literal, values.value(entry.contains("value") ? entry["value"] : Json()));
    graph.inputs.push_back(std::move(literal));
    return {};
  } else {
    auto tensor = std::ranges::find(body.inputs, name, &Tensor::name);
    if (tensor == body.inputs.end())
      return corruptError("the signature names the input '" + name + "', which the graph doesn't have");
    return addTensorInput(name, *tensor);
  }
  graph.inputs.push_back(named[name]);
  return {};
}

Status BodyReader::addOutputNamed(const std::string &name) {
  INGOT_TRY(Argument output, value(name));
  graph.outputs.push_back(std::move(output));
  return {};
}

Status BodyReader::addOutput(const Json &entry) {
  if (std::string name = textOf(entry, "name"); !name.empty())
    return addOutputNamed(name);
  INGOT_TRY(Argument literal, values.value(entry.is_object() && entry.contains("value") ? entry["value"] : Json()));
  graph.outputs.push_back(std::move(literal));
  return {};
}

Result<pt2::Graph> BodyReader::readWhole() {
  bool isPlain =
      !body.signature.is_object() || !body.signature.contains("inputs") || !body.signature.contains("outputs");
  if (isPlain)
    for (const Tensor &tensor : body.inputs)
      INGOT_CHECK(addTensorInput(tensor.name, tensor));
  else
    for (const Json &entry : body.signature["inputs"])
      INGOT_CHECK(addInput(entry));
  INGOT_CHECK(addNodes());
  if (isPlain)
    for (const Tensor &tensor : body.outputs)
      INGOT_CHECK(addOutputNamed(tensor.name));
  else
    for (const Json &entry : body.signature["outputs"])
      INGOT_CHECK(addOutput(entry));
  return take();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Status BodyReader::addNodes() {
  // Results are called as the getitem nodes that pick them, which come later.
  for (const Node &node : body.nodes)
    if (node.opType == kGetItem && !node.inputs.empty() && node.inputs.front().producerNode)
      picked.try_emplace({*node.inputs.front().producerNode, indexOf(node.attrs)},
                         node.outputs.empty() ? node.name : node.outputs.front().name);
  for (const Node &node : body.nodes) {
    Status status = node.opType == kGetItem ? addGetItem(node) : addNode(node);
    if (!status)
      return std::move(status.error()).note("at node '" + node.name + "', " + node.opType);
  }
  return {};
}

Status BodyReader::addGetItem(const Node &node) {
  std::string name = node.outputs.empty() ? node.name : node.outputs.front().name;
  std::string producer = node.inputs.empty() ? "" : node.inputs.front().producerNode.value_or("");
  auto found = results.find({producer, indexOf(node.attrs)});
  if (found != results.end()) {
    named[name] = found->second;
  } else if (producer.empty() && indexOf(node.attrs)[0] < static_cast<int64_t>(node.inputs.size())) {
    // Made by hand, without producers: picks among its inputs.
    INGOT_TRY(named[name], input(node.inputs[static_cast<size_t>(indexOf(node.attrs)[0])]));
  } else {
    return corruptError("picks a result that '" + producer + "' doesn't have");
  }
  tensorsOf[node.name] = {named[name]};
  return {};
}

Result<Argument> BodyReader::input(const Tensor &tensor) const {
  if (!tensor.producerNode)
    return value(tensor.name);
  auto producer = tensorsOf.find(*tensor.producerNode);
  if (producer == tensorsOf.end() || tensor.producerIndex < 0 ||
      tensor.producerIndex >= static_cast<int64_t>(producer->second.size()))
    return corruptError("there is no result " + std::to_string(tensor.producerIndex) + " of '" + *tensor.producerNode +
                        "' yet");
  return producer->second[static_cast<size_t>(tensor.producerIndex)];
}

Result<std::vector<Argument>> BodyReader::operands(const Node &node, std::vector<std::string> &hints) {
  std::vector<Argument> list;
  for (const Tensor &tensor : node.inputs) {
    INGOT_TRY(Argument operand, input(tensor));
    list.push_back(std::move(operand));
    auto key = weightKeys.find(tensor.name);
    std::string hint = key == weightKeys.end() ? tensor.name : key->second;
    hints.push_back(hint.substr(hint.rfind('.') + 1));
  }
  return list;
}

Result<std::vector<pt2::NamedArgument>> BodyReader::arguments(const Node &node, const pt2::OpSchema *schema) {
  if (!node.args) {
    std::vector<std::string> hints;
    INGOT_TRY(std::vector<Argument> tensors, operands(node, hints));
    return rebuildArguments(node, schema, tensors, hints, values);
  }
  std::vector<pt2::NamedArgument> list;
  for (size_t i = 0; i < node.args->size(); ++i) {
    const ArgumentRecord &record = (*node.args)[i];
    const pt2::SchemaArgument *declared = schema ? schema->findArgument(record.name) : nullptr;
    if (declared && record.kind == "default")
      continue;
    pt2::NamedArgument argument;
    bool isNameless = !schema && record.name == "arg" + std::to_string(i);
    argument.name = isNameless ? "" : record.name;
    argument.passedAs = record.keyword ? pt2::PassedAs::Keyword : pt2::PassedAs::Positional;
    Result<Argument> read = values.record(record, declared ? &declared->type : nullptr);
    if (!read)
      return std::move(read.error()).note("in argument '" + record.name + "'");
    argument.value = *std::move(read);
    list.push_back(std::move(argument));
  }
  return list;
}

Status BodyReader::addNode(const Node &from) {
  pt2::Node node;
  node.name = from.name;
  node.target = targetOfOpType(from.opType);
  node.metadata = metadataOf(from);
  const pt2::OpSchema *schema = schemaOfTarget(node.target);
  INGOT_TRY(node.inputs, arguments(from, schema));
  INGOT_CHECK(addResults(from, schema, node));
  graph.nodes.push_back(std::move(node));
  ++nodeCount;
  return {};
}

std::vector<BodyReader::Entry> BodyReader::entriesOf(const Node &node) {
  std::vector<Entry> entries;
  auto place = [&](const std::string &name) {
    Place found = placeFromName(node.name, name);
    return found.empty() ? Place{static_cast<int64_t>(entries.size())} : found;
  };
  for (const Tensor &tensor : node.outputs)
    entries.push_back({place(tensor.name), &tensor, nullptr});
  for (const Scalar &scalar : node.scalars)
    entries.push_back({place(scalar.name), nullptr, &scalar});
  std::ranges::sort(entries, {}, &Entry::place);
  return entries;
}

Result<Argument> BodyReader::addResult(const Node &from, const Entry &entry, bool isSingle) {
  std::string own = entry.tensor ? entry.tensor->name : entry.scalar->name;
  if (entry.scalar && entry.scalar->type == "none")
    return Argument::makeNone();
  std::string name = own;
  if (!isSingle) {
    auto picker = picked.find({from.name, entry.place});
    name = picker != picked.end() ? picker->second : from.name + "_unused" + placeText(entry.place);
  }
  if (entry.tensor) {
    INGOT_TRY(graph.tensorValues[name], meta(*entry.tensor));
    named[name] = Argument::makeTensor(name);
  } else {
    INGOT_CHECK(define(name, entry.scalar->type, entry.scalar->expr));
  }
  Argument made = named[name];
  named[own] = made;
  results[{from.name, entry.place}] = made;
  return made;
}

Status BodyReader::addResults(const Node &from, const pt2::OpSchema *schema, pt2::Node &node) {
  std::vector<Entry> entries = entriesOf(from);
  bool isList = schema && schema->returns.size() == 1 && schema->returns[0].type.isTensorList();
  bool isOwnName =
      entries.size() == 1 &&
      placeFromName(from.name, entries[0].tensor ? entries[0].tensor->name : entries[0].scalar->name).empty();
  bool isSingle = schema ? schema->returns.size() == 1 && !isList : isOwnName;
  if (isSingle && entries.size() > 1)
    return corruptError("has " + std::to_string(entries.size()) + " results, its operator gives one");
  std::vector<std::string> items;
  size_t count = schema && !isList ? schema->returns.size() : 0;
  for (const Entry &entry : entries)
    if (!isList)
      count = std::max(count, static_cast<size_t>(entry.place[0]) + 1);
  if (schema && !isList && count > schema->returns.size())
    return corruptError("has more results than its operator gives, " + std::to_string(schema->returns.size()));
  node.outputs.assign(isSingle ? 1 : count, Argument::makeNone());
  std::vector<Argument> tensors(from.outputs.size());
  for (const Entry &entry : entries) {
    INGOT_TRY(Argument made, addResult(from, entry, isSingle));
    if (entry.tensor)
      tensors[static_cast<size_t>(entry.tensor - from.outputs.data())] = made;
    if ((isList || entry.place.size() > 1) && !made.is(ArgumentKind::Tensor))
      return corruptError("has a list of results that are no tensors");
    if (isList)
      items.push_back(made.asTensor());
    else if (isSingle)
      node.outputs[0] = made;
    else if (entry.place.size() == 1)
      node.outputs[static_cast<size_t>(entry.place[0])] = made;
    else {
      Argument &list = node.outputs[static_cast<size_t>(entry.place[0])];
      std::vector<std::string> names = list.is(ArgumentKind::Tensors) ? list.asTensors() : std::vector<std::string>();
      names.push_back(made.asTensor());
      list = Argument::makeTensors(std::move(names));
    }
  }
  if (isList)
    node.outputs = {Argument::makeTensors(std::move(items))};
  if (!schema)
    node.hopReturnsSingleTensor = isSingle && entries.size() == 1 && entries[0].tensor;
  tensorsOf[from.name] = std::move(tensors);
  return {};
}

} // namespace ingot::graph
