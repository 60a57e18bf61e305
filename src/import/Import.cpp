#include "import/Import.h"

#include "dialect/Conventions.h"
#include "import/Carrier.h"
#include "import/GraphImporter.h"
#include "import/Guards.h"
#include "import/Location.h"
#include "import/SignatureText.h"
#include "pt2/Literal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;

namespace ingot {

using pt2::InputKind;
using pt2::InputSpec;
using pt2::OutputKind;
using pt2::OutputSpec;

namespace {

/// An argument or a result of the function.
struct Port {
  std::string value; ///< its name in the graph
  Type type;
  NamedAttrList attributes;
  std::string target = {}; ///< of new content: the input that is changed
};

/// Content of one type can become content of another without `copy_`, which broadcasts and converts.
bool isKept(Type from, Type to) {
  auto a = dyn_cast<RankedTensorType>(from), b = dyn_cast<RankedTensorType>(to);
  return !a || !b || (a.getElementType() == b.getElementType() && succeeded(verifyCompatibleShape(a, b)));
}

/// A weight, and the graph inputs that it is: several when it is tied.
struct NamedWeight {
  std::string key;
  std::vector<std::string> inputs;
  std::string newValue; ///< what the program changes it to; empty for plain weights
};

class ProgramImporter {
public:
  ProgramImporter(const pt2::Program &program, ModuleOp module, WeightTable &table, const ImportOptions &options)
      : program(program), options(options), table(table), builder(module.getBodyRegion()),
        graph(builder, program.graph) {
    builder.setInsertionPointToEnd(module.getBody());
  }

  Result<func::FuncOp> run();

private:
  Status readInputs();
  Status readUserInput(const InputSpec &input);
  Status readWeight(const InputSpec &input);
  Status readOutputs();
  Status readUserOutput(const OutputSpec &output);
  Status readMutation(const OutputSpec &output);
  Status addStates();
  Status buildBody(func::FuncOp func);
  Status defineWeights();
  Status setAttributes(func::FuncOp func);
  Result<Port> describe(const std::string &value);

  const pt2::Program &program;
  const ImportOptions &options;
  WeightTable &table;
  OpBuilder builder;
  GraphImporter graph;

  std::vector<Port> arguments, results, mutatedInputs;
  std::vector<NamedWeight> weights;
  llvm::StringMap<size_t> weightNumbers;   ///< key -> index into weights
  llvm::StringMap<std::string> targetKeys; ///< name of a parameter or buffer -> key
  SmallVector<Attribute> flatInputs, flatOutputs;
};

Result<Port> ProgramImporter::describe(const std::string &value) {
  INGOT_TRY(Type type, graph.typeOf(value));
  INGOT_TRY(std::vector<std::string> dims, dimTexts(program.graph, value));
  NamedAttrList attributes;
  attributes.set(attr::kName, builder.getStringAttr(value));
  SmallVector<StringRef> texts(dims.begin(), dims.end());
  attributes.set(attr::kDims, builder.getStrArrayAttr(texts));
  return Port{value, type, std::move(attributes)};
}

Status ProgramImporter::readUserInput(const InputSpec &input) {
  std::string name = valueName(input.value);
  if (name.empty() || input.kind == InputKind::ConstantInput) {
    INGOT_TRY(std::string literal, pt2::literalText(input.value));
    flatInputs.push_back(builder.getStrArrayAttr({input.target, literal}));
    return {};
  }
  INGOT_TRY(Port port, describe(name));
  flatInputs.push_back(builder.getI64IntegerAttr(arguments.size()));
  arguments.push_back(std::move(port));
  return {};
}

Status ProgramImporter::readWeight(const InputSpec &input) {
  INGOT_TRY(std::string key, table.add(program, input, options.weightPrefix));
  auto [it, isNew] = weightNumbers.try_emplace(key, weights.size());
  if (isNew) {
    weights.push_back({key, {}, ""});
    if (options.takesWeights) {
      INGOT_TRY(Port port, describe(valueName(input.value)));
      arguments.push_back(std::move(port));
    }
  }
  weights[it->second].inputs.push_back(valueName(input.value));
  targetKeys[input.target] = key;
  return {};
}

Status ProgramImporter::readInputs() {
  for (const InputSpec &input : program.signature.inputs) {
    switch (input.kind) {
    case InputKind::UserInput:
    case InputKind::ConstantInput:
      INGOT_CHECK(readUserInput(input));
      break;
    case InputKind::Parameter:
    case InputKind::Buffer:
    case InputKind::TensorConstant:
      INGOT_CHECK(readWeight(input));
      break;
    case InputKind::CustomObj:
      break; // Carriers refer to objects by name.
    case InputKind::Token:
      return unsupportedError("the program has effect tokens");
    }
  }
  return {};
}

Status ProgramImporter::readUserOutput(const OutputSpec &output) {
  std::string name = valueName(output.value);
  if (name.empty()) {
    INGOT_TRY(std::string literal, pt2::literalText(output.value));
    flatOutputs.push_back(builder.getStringAttr(literal));
    return {};
  }
  auto known = llvm::find_if(results, [&](const Port &port) { return port.value == name; });
  flatOutputs.push_back(builder.getI64IntegerAttr(known - results.begin()));
  if (known != results.end())
    return {};
  INGOT_TRY(Port port, describe(name));
  results.push_back(std::move(port));
  return {};
}

Status ProgramImporter::readMutation(const OutputSpec &output) {
  std::string name = valueName(output.value);
  if (output.kind == OutputKind::UserInputMutation) {
    INGOT_TRY(Port port, describe(name));
    port.attributes.set(attr::kMutates, builder.getStringAttr(output.target));
    port.target = output.target;
    INGOT_TRY(Port input, describe(output.target));
    if (!isKept(port.type, input.type)) {
      port.type = input.type;
      port.attributes.set(attr::kDims, input.attributes.get(attr::kDims));
    }
    mutatedInputs.push_back(std::move(port));
    return {};
  }
  auto key = targetKeys.find(output.target);
  if (key == targetKeys.end())
    return corruptError("the program changes '" + output.target + "', which it does not have");
  weights[weightNumbers[key->second]].newValue = name;
  return {};
}

Status ProgramImporter::readOutputs() {
  for (const OutputSpec &output : program.signature.outputs) {
    switch (output.kind) {
    case OutputKind::UserOutput:
    case OutputKind::Loss:
      INGOT_CHECK(readUserOutput(output));
      break;
    case OutputKind::BufferMutation:
    case OutputKind::ParameterMutation:
    case OutputKind::UserInputMutation:
      INGOT_CHECK(readMutation(output));
      break;
    case OutputKind::GradientToParameter:
    case OutputKind::GradientToUserInput:
      return unsupportedError("the program computes gradients; export the forward pass alone");
    case OutputKind::Token:
      return unsupportedError("the program has effect tokens");
    }
  }
  llvm::append_range(results, mutatedInputs);
  return {};
}

/// States follow the user's values, in the order of the weights.
Status ProgramImporter::addStates() {
  for (const NamedWeight &weight : weights) {
    if (weight.newValue.empty())
      continue;
    INGOT_TRY(Type type, graph.typeOf(weight.inputs.front()));
    INGOT_TRY(Type newType, graph.typeOf(weight.newValue));
    NamedAttrList attributes;
    attributes.set(attr::kState, builder.getStringAttr(weight.key));
    const std::string &input = weight.inputs.front();
    results.push_back({weight.newValue, isKept(newType, type) ? newType : type, attributes, input});
    attributes.set(attr::kName, builder.getStringAttr(weight.key));
    attributes.set(attr::kInitial, builder.getStringAttr(weight.key));
    arguments.push_back({input, type, attributes});
  }
  return {};
}

Status ProgramImporter::setAttributes(func::FuncOp func) {
  // All at once: each change of one would make a list of all.
  auto dictionaries = [&](std::vector<Port> &ports) {
    return llvm::map_to_vector(ports, [&](Port &port) { return port.attributes.getDictionary(builder.getContext()); });
  };
  func.setAllArgAttrs(dictionaries(arguments));
  func.setAllResultAttrs(dictionaries(results));
  func->setAttr(attr::kFlatInputs, builder.getArrayAttr(flatInputs));
  func->setAttr(attr::kFlatOutputs, builder.getArrayAttr(flatOutputs));
  if (!program.moduleCalls.empty() && program.moduleCalls.front().signature) {
    func->setAttr(attr::kInSpec, builder.getStringAttr(program.rootSignature().inSpecText));
    func->setAttr(attr::kOutSpec, builder.getStringAttr(program.rootSignature().outSpecText));
  }
  NamedAttrList symbols;
  for (const auto &[symbol, range] : program.rangeConstraints) {
    int64_t low = range.min.value_or(std::numeric_limits<int64_t>::min());
    int64_t high = range.max.value_or(std::numeric_limits<int64_t>::max());
    if (low > high || symbol.empty())
      return corruptError("the size '" + symbol + "' has no valid range");
    symbols.set(symbol, builder.getI64ArrayAttr({low, high}));
  }
  for (const SizeEquation &equation : sizeEquations(program))
    symbols.set(equation.expression, builder.getI64ArrayAttr({equation.value, equation.value}));
  func->setAttr(attr::kSymbols, symbols.getDictionary(builder.getContext()));
  if (!options.takesWeights)
    return {};
  SmallVector<StringRef> keys;
  for (const NamedWeight &weight : weights)
    keys.push_back(weight.key);
  func->setAttr(attr::kWeights, builder.getStrArrayAttr(keys));
  return {};
}

Status ProgramImporter::defineWeights() {
  for (const NamedWeight &weight : weights) {
    Value value;
    if (weight.newValue.empty() && !options.takesWeights) {
      INGOT_TRY(Type type, graph.typeOf(weight.inputs.front()));
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape())
        return corruptError("'" + weight.key + "' is no tensor of known sizes");
      Location location = makeLocation(builder.getContext(), SourceInfo{weight.inputs.front(), "", 0, ""});
      value = builder.create<WeightOp>(location, tensor, weight.key);
    } else {
      INGOT_TRY(value, graph.lookup(weight.inputs.front()));
    }
    for (const std::string &name : weight.inputs)
      if (Result<Value> known = graph.lookup(name); !known)
        INGOT_CHECK(graph.define(name, value));
  }
  return {};
}

Status ProgramImporter::buildBody(func::FuncOp func) {
  Block *block = func.addEntryBlock();
  builder.setInsertionPointToStart(block);
  for (auto [port, argument] : llvm::zip_equal(arguments, block->getArguments())) {
    argument.setLoc(makeLocation(builder.getContext(), SourceInfo{port.value, "", 0, ""}));
    INGOT_CHECK(graph.define(port.value, argument));
  }
  INGOT_CHECK(defineWeights());
  INGOT_CHECK(graph.importNodes());
  SmallVector<Value> values;
  for (const Port &port : results) {
    INGOT_TRY(Value value, graph.lookup(port.value));
    if (!port.target.empty() && !isKept(value.getType(), port.type)) {
      INGOT_TRY(Value before, graph.lookup(port.target));
      CarrierBuilder copy(builder, value.getLoc(), "aten::copy");
      value = copy.arg("self", before).arg("src", value).value(port.type);
    }
    values.push_back(value);
  }
  builder.create<func::ReturnOp>(func.getLoc(), values);
  return {};
}

Result<func::FuncOp> ProgramImporter::run() {
  INGOT_CHECK(readInputs());
  INGOT_CHECK(readOutputs());
  INGOT_CHECK(addStates());
  auto types = [](const std::vector<Port> &ports) {
    return llvm::to_vector(llvm::map_range(ports, [](const Port &port) { return port.type; }));
  };
  Location location = NameLoc::get(builder.getStringAttr(options.entry));
  auto type = builder.getFunctionType(types(arguments), types(results));
  auto func = builder.create<func::FuncOp>(location, options.entry, type);
  INGOT_CHECK(buildBody(func));
  INGOT_CHECK(setAttributes(func));
  return func;
}

/// Turns what the verifier says into an error: the file describes a program that cannot be.
Status verifyFunction(func::FuncOp func) {
  std::string messages;
  ScopedDiagnosticHandler handler(func.getContext(), [&](Diagnostic &diagnostic) {
    messages += (messages.empty() ? "" : "\n") + diagnostic.str();
    if (std::string where = sourceInfo(diagnostic.getLocation()).str(); !where.empty())
      messages += "\n  at " + where;
    return success();
  });
  if (failed(verify(func)))
    return corruptError("the exported program contradicts itself: " + messages);
  return {};
}

} // namespace

Status importProgram(const pt2::Program &program, ModuleOp module, WeightTable &weights, const ImportOptions &options) {
  if (module.lookupSymbol(options.entry))
    return usageError("two functions are called '" + options.entry + "'");
  INGOT_TRY(func::FuncOp func, ProgramImporter(program, module, weights, options).run());
  return verifyFunction(func);
}

} // namespace ingot
