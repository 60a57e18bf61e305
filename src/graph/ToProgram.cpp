#include "graph/ToProgram.h"

#include "graph/BodyReader.h"
#include "graph/SignatureKinds.h"
#include "graph/Validate.h"
#include "graph/WeightMatch.h"
#include "pt2/ProgramReader.h"

#include <algorithm>
#include <unordered_map>

namespace ingot::graph {

using pt2::InputKind;
using pt2::InputSpec;
using pt2::OutputKind;
using pt2::OutputSpec;

namespace {

std::string textOf(const Json &object, const char *key) {
  bool isText = object.is_object() && object.contains(key) && object[key].is_string();
  return isText ? object[key].get<std::string>() : "";
}

Result<std::vector<std::string>> textsOf(const Json &object, const char *key) {
  std::vector<std::string> texts;
  if (!object.is_object() || !object.contains(key))
    return texts;
  if (!object[key].is_array())
    return corruptError("'signature." + std::string(key) + "' should be a list of strings");
  for (const Json &item : object[key]) {
    if (!item.is_string())
      return corruptError("'signature." + std::string(key) + "' should be a list of strings");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

/// The tree of a tuple with `count` leaves, as torch writes it.
Json tupleTree(size_t count) {
  Json leaf = {{"type", nullptr}, {"context", nullptr}, {"children_spec", Json::array()}};
  Json tree = {{"type", "builtins.tuple"}, {"context", "null"}, {"children_spec", Json::array()}};
  tree["children_spec"] = Json(std::vector<Json>(count, leaf));
  return tree;
}

std::string callTree(size_t count) {
  Json noKeywords = {{"type", "builtins.dict"}, {"context", "[]"}, {"children_spec", Json::array()}};
  Json tree = tupleTree(0);
  tree["children_spec"] = Json::array({tupleTree(count), std::move(noKeywords)});
  return Json::array({1, std::move(tree)}).dump();
}

class ProgramBuilder {
public:
  explicit ProgramBuilder(const Document &document) : document(document), body(document, document.graph) {
    for (const Weight &weight : document.weights)
      weights[weight.name] = &weight;
  }

  Result<pt2::Program> build() {
    INGOT_CHECK(checkDocument(document));
    program.modelName = document.modelName.empty() ? "model" : document.modelName;
    program.torchVersion = document.pytorchVersion;
    program.guards = document.guards;
    for (const auto &[name, symbol] : document.symbols)
      if (symbol.min || symbol.max)
        program.rangeConstraints[name] = {symbol.min, symbol.max};
    for (const auto &[value, key] : document.weightNames)
      body.setWeightKey(value, key);
    bool hasSignature = document.signature.is_object() && document.signature.contains("inputs");
    INGOT_CHECK(hasSignature ? readInputs() : makeInputs());
    INGOT_CHECK(body.addNodes());
    INGOT_CHECK(hasSignature ? readOutputs() : makeOutputs());
    program.graph = body.take();
    INGOT_CHECK(addTrees());
    INGOT_CHECK(pt2::checkGraph(program.graph));
    INGOT_CHECK(pt2::checkSignature(program.graph, program.signature));
    INGOT_CHECK(pt2::checkTrees(program));
    return std::move(program);
  }

private:
  Status addWeight(InputKind kind, const std::string &value, const std::string &key, bool persistent) {
    auto weight = weights.find(key);
    if (weight == weights.end())
      return corruptError("there is no weight '" + key + "'");
    INGOT_CHECK(body.addTensorInput(value, *weight->second));
    program.signature.inputs.push_back({kind, body.inputs().back(), key, persistent});
    return {};
  }

  Status readInputs() {
    for (const Json &entry : document.signature["inputs"]) {
      std::optional<InputKind> kind = kindFromName<InputKind>(kInputKinds, textOf(entry, "kind"));
      if (!kind || !entry.is_object())
        return corruptError("'signature.inputs' has an entry of an unknown kind");
      std::string target = textOf(entry, "target");
      bool persistent = !entry.contains("persistent") || entry["persistent"] != false;
      if (*kind == InputKind::Parameter || *kind == InputKind::Buffer || *kind == InputKind::TensorConstant) {
        INGOT_CHECK(addWeight(*kind, textOf(entry, "name"), target, persistent));
        continue;
      }
      INGOT_CHECK(body.addInput(entry));
      program.signature.inputs.push_back({*kind, body.inputs().back(), target, persistent});
    }
    return {};
  }

  /// Documents of other tools have no signature: weights by the mapping, then what the caller passes.
  Status makeInputs() {
    for (const auto &[value, key] : document.weightNames)
      INGOT_CHECK(addWeight(guessedKind(value, key), value, key, true));
    for (const Tensor &tensor : document.graph.inputs) {
      INGOT_CHECK(body.addTensorInput(tensor.name, tensor));
      program.signature.inputs.push_back({InputKind::UserInput, body.inputs().back(), "", true});
    }
    return {};
  }

  InputKind guessedKind(const std::string &value, const std::string &key) const {
    std::string kind = weights.contains(key) ? weights.at(key)->kind : "";
    auto named = [&](const auto &entry) { return entry.first == key; };
    if (kind == "constant" || (kind.empty() && std::ranges::any_of(document.constants, named)))
      return InputKind::TensorConstant;
    // torch calls the values of parameters p_…, those of buffers b_….
    return kind == "buffer" || (kind.empty() && value.starts_with("b_")) ? InputKind::Buffer : InputKind::Parameter;
  }

  Status readOutputs() {
    if (!document.signature.contains("outputs"))
      return makeOutputs();
    for (const Json &entry : document.signature["outputs"]) {
      std::optional<OutputKind> kind = kindFromName<OutputKind>(kOutputKinds, textOf(entry, "kind"));
      if (!kind)
        return corruptError("'signature.outputs' has an entry of an unknown kind");
      INGOT_CHECK(body.addOutput(entry));
      program.signature.outputs.push_back({*kind, body.outputs().back(), textOf(entry, "target")});
    }
    return {};
  }

  Status makeOutputs() {
    for (const Tensor &tensor : document.graph.outputs) {
      INGOT_CHECK(body.addOutputNamed(tensor.name));
      program.signature.outputs.push_back({OutputKind::UserOutput, body.outputs().back(), ""});
    }
    return {};
  }

  Status addTrees() {
    INGOT_TRY(program.verifiers, textsOf(document.signature, "dialects"));
    program.dialect = pt2::dialectOf(program.verifiers);
    pt2::ModuleCallSignature root;
    for (const InputSpec &input : program.signature.inputs)
      if (input.kind == InputKind::UserInput || input.kind == InputKind::ConstantInput)
        root.inputs.push_back(input.value);
    for (const OutputSpec &output : program.signature.outputs)
      if (output.kind == OutputKind::UserOutput || output.kind == OutputKind::Loss)
        root.outputs.push_back(output.value);
    root.inSpecText = textOf(document.signature, "in_spec");
    root.outSpecText = textOf(document.signature, "out_spec");
    if (root.inSpecText.empty())
      root.inSpecText = callTree(root.inputs.size());
    if (root.outSpecText.empty())
      root.outSpecText = Json::array({1, tupleTree(root.outputs.size())}).dump();
    INGOT_CHECK(readNamedTuples());
    INGOT_TRY(root.inSpec, pt2::readTreeSpec(root.inSpecText, program.namedTupleFields));
    INGOT_TRY(root.outSpec, pt2::readTreeSpec(root.outSpecText, program.namedTupleFields));
    if (document.signature.is_object() && document.signature.contains("forward_arg_names")) {
      INGOT_TRY(root.forwardArgNames, textsOf(document.signature, "forward_arg_names"));
    }
    program.moduleCalls.push_back({"", std::move(root)});
    return {};
  }

  Status readNamedTuples() {
    if (!document.signature.is_object() || !document.signature.contains("named_tuple_fields"))
      return {};
    const Json &table = document.signature["named_tuple_fields"];
    if (!table.is_object())
      return corruptError("'signature.named_tuple_fields' should be an object");
    for (const auto &[type, fields] : table.items()) {
      INGOT_TRY(program.namedTupleFields[type], textsOf(table, type.c_str()));
    }
    return {};
  }

  const Document &document;
  BodyReader body;
  std::unordered_map<std::string, const Weight *> weights;
  pt2::Program program;
};

} // namespace

Result<pt2::Program> programWithoutWeights(const Document &document) { return ProgramBuilder(document).build(); }

Result<pt2::Program> programOf(const Document &document, const std::vector<pt2::MemoryWeight> &weights,
                               std::shared_ptr<const void> memory) {
  INGOT_TRY(pt2::Program program, programWithoutWeights(document));
  INGOT_TRY(MatchedWeights matched, matchWeights(document, program.signature, weights));
  matched.memory.push_back(std::move(memory));
  program.memory = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::move(matched.memory));
  INGOT_CHECK(pt2::adoptWeights(program, matched.weights));
  return program;
}

} // namespace ingot::graph
