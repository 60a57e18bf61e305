#include "graph/Writer.h"

#include "base/AtomicWrite.h"
#include "graph/Constants.h"

#include <filesystem>

namespace ingot::graph {

namespace {

Json sizeJson(const Size &size) {
  return std::visit([](const auto &value) { return Json(value); }, size);
}

Json sizesJson(const std::vector<Size> &sizes) {
  Json list = Json::array();
  for (const Size &size : sizes)
    list.push_back(sizeJson(size));
  return list;
}

Json tensorJson(const Tensor &tensor) {
  Json json = Json::object();
  json["name"] = tensor.name;
  json["shape"] = sizesJson(tensor.shape);
  json["dtype"] = tensor.dtype;
  if (tensor.producerNode) {
    json["producer_node"] = *tensor.producerNode;
    json["producer_output_idx"] = tensor.producerIndex;
  }
  if (!tensor.strides.empty())
    json["strides"] = sizesJson(tensor.strides);
  if (tensor.offset != Size(int64_t(0)))
    json["storage_offset"] = sizeJson(tensor.offset);
  if (!tensor.device.empty())
    json["device"] = tensor.device;
  if (!tensor.layout.empty())
    json["layout"] = tensor.layout;
  return json;
}

Json weightJson(const Weight &weight) {
  Json json = tensorJson(weight);
  if (!weight.kind.empty())
    json["kind"] = weight.kind;
  if (!weight.persistent)
    json["persistent"] = false;
  if (!weight.sameAs.empty())
    json["same_as"] = weight.sameAs;
  return json;
}

Json recordJson(const ArgumentRecord &record) {
  Json json = Json::object();
  json["name"] = record.name;
  json["kind"] = record.kind;
  json["value"] = record.value;
  if (record.keyword)
    json["keyword"] = true;
  return json;
}

Json scalarJson(const Scalar &scalar) {
  Json json = Json::object();
  json["name"] = scalar.name;
  json["type"] = scalar.type;
  json["expr"] = scalar.expr;
  return json;
}

Json sourceJson(const Source &source) {
  Json json = Json::object();
  json["file"] = source.file;
  json["line"] = source.line;
  if (!source.function.empty())
    json["function"] = source.function;
  if (!source.code.empty())
    json["code"] = source.code;
  return json;
}

template <typename T, typename Write> Json listJson(const std::vector<T> &items, Write write) {
  Json list = Json::array();
  for (const T &item : items)
    list.push_back(write(item));
  return list;
}

Json nodeJson(const Node &node) {
  Json json = Json::object();
  json["name"] = node.name;
  json["op_type"] = node.opType;
  json["inputs"] = listJson(node.inputs, tensorJson);
  json["outputs"] = listJson(node.outputs, tensorJson);
  json["attrs"] = node.attrs;
  if (node.args)
    json["args"] = listJson(*node.args, recordJson);
  if (!node.scalars.empty())
    json["scalars"] = listJson(node.scalars, scalarJson);
  if (!node.mutates.empty())
    json["mutates"] = node.mutates;
  if (!node.module.empty())
    json["module"] = node.module;
  if (!node.moduleType.empty())
    json["module_type"] = node.moduleType;
  if (node.source)
    json["source"] = sourceJson(*node.source);
  return json;
}

Json bodiesJson(const std::map<std::string, Body> &bodies);

Json bodyJson(const Body &body) {
  Json json = Json::object();
  json["inputs"] = listJson(body.inputs, tensorJson);
  json["outputs"] = listJson(body.outputs, tensorJson);
  json["nodes"] = listJson(body.nodes, nodeJson);
  if (!body.subgraphs.empty())
    json["subgraphs"] = bodiesJson(body.subgraphs);
  if (!body.signature.is_null())
    json["signature"] = body.signature;
  return json;
}

Json bodiesJson(const std::map<std::string, Body> &bodies) {
  Json json = Json::object();
  for (const auto &[name, body] : bodies)
    json[name] = bodyJson(body);
  return json;
}

Json symbolJson(const Symbol &symbol) {
  Json json = Json::object();
  if (symbol.min)
    json["min"] = *symbol.min;
  if (symbol.max)
    json["max"] = *symbol.max;
  if (symbol.hint)
    json["hint"] = *symbol.hint;
  if (!symbol.name.empty())
    json["name"] = symbol.name;
  return json;
}

/// An object of pairs whose keys differ: looking for each key, as `json[key] =` does, takes quadratic time.
template <typename Pairs, typename Write> Json objectJson(const Pairs &pairs, Write write) {
  Json json = Json::object();
  auto &entries = static_cast<Json::object_t::Container &>(json.get_ref<Json::object_t &>());
  for (const auto &[key, value] : pairs)
    entries.emplace_back(key, write(value));
  return json;
}

} // namespace

Json toJson(const Node &node) { return nodeJson(node); }

Json toJson(const Document &document) {
  auto plain = [](const auto &value) { return Json(value); };
  Json json = Json::object();
  json["format"] = "ingot.graph";
  json["format_version"] = document.formatVersion.empty() ? "1.0" : document.formatVersion;
  json["model_name"] = document.modelName;
  json["pytorch_version"] = document.pytorchVersion;
  json["graph_inputs"] = listJson(document.graph.inputs, tensorJson);
  json["graph_outputs"] = listJson(document.graph.outputs, tensorJson);
  json["weights"] = listJson(document.weights, weightJson);
  json["weight_name_mapping"] = objectJson(document.weightNames, plain);
  json["nodes"] = listJson(document.graph.nodes, nodeJson);
  if (!document.constants.empty())
    json["constants"] = objectJson(document.constants, plain);
  if (!document.graph.subgraphs.empty())
    json["subgraphs"] = bodiesJson(document.graph.subgraphs);
  if (!document.symbols.empty())
    json["symbols"] = objectJson(document.symbols, symbolJson);
  if (!document.expressions.empty())
    json["expressions"] = objectJson(document.expressions, plain);
  if (!document.guards.empty())
    json["guards"] = document.guards;
  if (!document.signature.is_null())
    json["signature"] = document.signature;
  return json;
}

std::string writeDocument(const Document &document) {
  return toJson(document).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status writeDocumentFile(const Document &document, const std::string &path) {
  if (document.sideConstants.empty())
    return writeFileAtomically(path, writeDocument(document), AtomicFile::Links::Follow);
  std::string file = constantsFileOf(path);
  Document named = document;
  for (const SafeTensor &constant : document.sideConstants) {
    Json entry = Json::object();
    entry["dtype"] = dtypeName(constant.dtype);
    entry["shape"] = constant.shape;
    entry["file"] = std::filesystem::path(file).filename().string();
    entry["key"] = constant.name;
    named.constants.emplace_back(constant.name, std::move(entry));
  }
  // The document comes last: where it is, its constants are.
  INGOT_CHECK(writeSafeTensors(file, document.sideConstants));
  return writeFileAtomically(path, writeDocument(named), AtomicFile::Links::Follow);
}

} // namespace ingot::graph
