#include "graph/FromProgram.h"

#include "graph/BodyWriter.h"
#include "graph/Constants.h"
#include "graph/SignatureKinds.h"

#include <set>
#include <tuple>

namespace ingot::graph {

using pt2::InputKind;
using pt2::OutputKind;

namespace {

bool isWeight(InputKind kind) {
  return kind == InputKind::Parameter || kind == InputKind::Buffer || kind == InputKind::TensorConstant;
}

/// What two weights share if one is tied to the other.
using Place = std::tuple<size_t, int64_t, DType, std::vector<int64_t>, std::vector<int64_t>>;

class ProgramWriter {
public:
  ProgramWriter(const pt2::Program &program, const std::map<std::string, std::string> &tied)
      : program(program), tied(tied), symbols(document), body(symbols, program.graph, document.graph) {}

  Document write() {
    document.formatVersion = "1.0";
    document.modelName = program.modelName;
    document.pytorchVersion = program.torchVersion;
    for (const pt2::InputSpec &input : program.signature.inputs)
      addInput(input);
    body.addNodes();
    for (const pt2::OutputSpec &output : program.signature.outputs)
      addOutput(output);
    addTables();
    addSignature();
    return std::move(document);
  }

private:
  void addInput(const pt2::InputSpec &input) {
    std::string name = nameOfValue(input.value);
    if (isWeight(input.kind))
      return addWeight(input, name);
    if (input.kind == InputKind::ConstantInput)
      return;
    body.addInput(name);
    if (input.kind == InputKind::UserInput && program.graph.findTensor(name))
      document.graph.inputs.push_back(body.tensor(name));
  }

  void addWeight(const pt2::InputSpec &input, const std::string &value) {
    document.weightNames.emplace_back(value, input.target);
    if (!names.insert(input.target).second)
      return;
    Weight weight;
    static_cast<Tensor &>(weight) = body.tensor(value);
    weight.name = input.target;
    weight.kind = input.kind == InputKind::Parameter ? "parameter"
                  : input.kind == InputKind::Buffer  ? "buffer"
                                                     : "constant";
    weight.persistent = input.kind != InputKind::Buffer || input.persistent;
    // Weights of the meta device have no memory that could be shared.
    if (const pt2::Weight *held = program.findWeight(input); held && !held->storage.empty()) {
      Place place(held->storageId, held->storageOffset, held->dtype, held->sizes, held->strides);
      auto [first, isNew] = places.try_emplace(place, input.target);
      if (!isNew)
        weight.sameAs = first->second;
      bool isConstant = input.kind == InputKind::TensorConstant || !weight.persistent;
      if (isConstant && held->kind == pt2::PayloadKind::Tensor)
        addConstant(document, input.target, *held);
    }
    if (auto found = tied.find(input.target); found != tied.end() && found->second != input.target)
      weight.sameAs = found->second;
    document.weights.push_back(std::move(weight));
  }

  void addOutput(const pt2::OutputSpec &output) {
    std::string name = nameOfValue(output.value);
    bool isUsers = output.kind == OutputKind::UserOutput || output.kind == OutputKind::Loss;
    if (isUsers && program.graph.findTensor(name))
      document.graph.outputs.push_back(body.tensor(name));
  }

  void addTables() {
    for (const auto &[name, range] : program.rangeConstraints) {
      Symbol &symbol = document.symbols[name];
      symbol.min = range.min;
      symbol.max = range.max;
    }
    document.guards = program.guards;
  }

  void addSignature() {
    Json inputs = Json::array(), outputs = Json::array();
    for (const pt2::InputSpec &input : program.signature.inputs) {
      Json entry = body.signatureEntry(kInputKinds[static_cast<size_t>(input.kind)], input.value);
      if (!input.target.empty())
        entry["target"] = input.target;
      if (!input.persistent)
        entry["persistent"] = false;
      inputs.push_back(std::move(entry));
    }
    for (const pt2::OutputSpec &output : program.signature.outputs) {
      Json entry = body.signatureEntry(kOutputKinds[static_cast<size_t>(output.kind)], output.value);
      if (!output.target.empty())
        entry["target"] = output.target;
      outputs.push_back(std::move(entry));
    }
    document.signature = Json::object();
    document.signature["inputs"] = std::move(inputs);
    document.signature["outputs"] = std::move(outputs);
    if (!program.moduleCalls.empty() && program.moduleCalls.front().signature)
      addTrees(program.rootSignature());
    if (!program.verifiers.empty())
      document.signature["dialects"] = program.verifiers;
  }

  void addTrees(const pt2::ModuleCallSignature &root) {
    document.signature["in_spec"] = root.inSpecText;
    document.signature["out_spec"] = root.outSpecText;
    if (root.forwardArgNames)
      document.signature["forward_arg_names"] = *root.forwardArgNames;
    if (program.namedTupleFields.empty())
      return;
    Json fields = Json::object();
    for (const auto &[type, list] : program.namedTupleFields)
      fields[type] = list;
    document.signature["named_tuple_fields"] = std::move(fields);
  }

  const pt2::Program &program;
  const std::map<std::string, std::string> &tied;
  Document document;
  SymbolWriter symbols;
  BodyWriter body;
  std::set<std::string> names;
  std::map<Place, std::string> places;
};

} // namespace

Document documentOf(const pt2::Program &program, const std::map<std::string, std::string> &tied) {
  return ProgramWriter(program, tied).write();
}

} // namespace ingot::graph
