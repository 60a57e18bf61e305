#include "passes/plan/EmitPlan.h"

#include "dialect/Conventions.h"
#include "dialect/DataDependent.h"
#include "dialect/Ops.h"
#include "dialect/Types.h"
#include "import/Location.h"
#include "passes/ConstantOnly.h"
#include "passes/plan/CarrierStep.h"
#include "passes/plan/PlanAttributes.h"

#include <llvm/ADT/DenseSet.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>

using namespace mlir;

namespace ingot {
namespace {

/// Builds one entry point.
class FunctionEmitter {
public:
  explicit FunctionEmitter(func::FuncOp func) : func(func) {}

  Result<Function> emit() {
    out.name = func.getName().str();
    out.isInternal = func.isPrivate();
    INGOT_CHECK(emitArguments());
    for (Operation &op : func.getBody().front().without_terminator())
      INGOT_CHECK(emitOp(op));
    INGOT_CHECK(emitResults());
    emitSignature();
    return std::move(out);
  }

private:
  Result<ValueId> define(mlir::Value value);
  Status emitArguments();
  Status emitOp(Operation &op);
  Status emitConstant(ConstantOp op);
  Status emitResults();
  Status emitWrittenArgument(StringRef argument, ValueId newValue);
  void emitSignature();
  bool dependsOnConstantsOnly(Operation &op);
  Result<Step> makeStep(Operation &op);

  func::FuncOp func;
  Function out;
  llvm::DenseMap<mlir::Value, ValueId> ids;
  llvm::DenseSet<Operation *> constantOps;
};

StringRef stringAttr(DictionaryAttr attributes, StringRef name) {
  if (auto text = attributes ? attributes.getAs<StringAttr>(name) : nullptr)
    return text.getValue();
  return {};
}

/// What the sizes of an argument are called.
Result<std::vector<std::string>> dimsOf(DictionaryAttr attributes) {
  std::vector<std::string> dims;
  auto list = attributes ? attributes.getAs<ArrayAttr>(attr::kDims) : nullptr;
  for (mlir::Attribute entry : list ? list.getValue() : ArrayRef<mlir::Attribute>()) {
    auto text = dyn_cast<StringAttr>(entry);
    if (!text)
      return corruptError("a size of an argument has no name");
    dims.push_back(text.str());
  }
  return dims;
}

Result<Value> planValue(Type type) {
  Value value;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    std::optional<DType> dtype = dtypeOfType(tensor.getElementType());
    if (!dtype)
      return corruptError("a tensor of the program has an element type that plans do not have");
    value.dtype = *dtype;
    for (int64_t size : tensor.getShape())
      value.shape.push_back(ShapedType::isDynamic(size) ? kDynamic : size);
    return value;
  }
  value.kind = ValueKind::Scalar;
  value.dtype = type.isInteger(1) ? DType::Bool : type.isF64() ? DType::Float64 : DType::Int64;
  return value;
}

Result<ValueId> FunctionEmitter::define(mlir::Value value) {
  INGOT_TRY(Value info, planValue(value.getType()));
  out.values.push_back(std::move(info));
  ValueId id = static_cast<ValueId>(out.values.size() - 1);
  ids[value] = id;
  return id;
}

Status FunctionEmitter::emitArguments() {
  for (BlockArgument argument : func.getArguments()) {
    INGOT_TRY(ValueId id, define(argument));
    DictionaryAttr attributes = func.getArgAttrDict(argument.getArgNumber());
    if (StringRef state = stringAttr(attributes, attr::kState); !state.empty()) {
      out.states.push_back({state.str(), id, kNoValue, stringAttr(attributes, attr::kInitial).str()});
      continue;
    }
    Input input;
    input.name = stringAttr(attributes, attr::kName).str();
    input.value = id;
    input.isReadLate = attributes && attributes.contains(attr::kReadLate);
    INGOT_TRY(std::vector<std::string> dims, dimsOf(attributes));
    if (isa<RankedTensorType>(argument.getType()))
      input.dims = std::move(dims);
    else if (dims.size() == 1 && argument.getType().isInteger(64)) // a number has its symbol there
      input.symbol = std::move(dims.front());
    out.inputs.push_back(std::move(input));
  }
  return {};
}

bool FunctionEmitter::dependsOnConstantsOnly(Operation &op) {
  // What depends on content or has effects runs in every call, whatever its operands are.
  if (!isPure(&op) || op.hasTrait<DataDependent>())
    return false;
  bool constant = llvm::all_of(op.getOperands(), [&](mlir::Value operand) {
    return operand.getDefiningOp() && constantOps.contains(operand.getDefiningOp());
  });
  if (constant)
    constantOps.insert(&op);
  return constant;
}

Status FunctionEmitter::emitOp(Operation &op) {
  bool constant = dependsOnConstantsOnly(op);
  if (auto weight = dyn_cast<WeightOp>(op)) {
    INGOT_TRY(ValueId id, define(weight));
    out.constants.push_back({id, weight.getKey().str(), {}});
    return {};
  }
  if (auto literal = dyn_cast<ConstantOp>(op))
    return emitConstant(literal);
  INGOT_TRY(Step step, makeStep(op));
  (constant ? out.prologue : out.steps).push_back(std::move(step));
  return {};
}

Status FunctionEmitter::emitConstant(ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return corruptError("a constant of the program is not dense");
  INGOT_TRY(ValueId id, define(op));
  out.constants.push_back({id, "", denseBytes(elements)});
  return {};
}

/// The number of operands of each ODS group, so that absent optional ones keep their place.
SmallVector<int32_t> segmentSizes(Operation &op) {
  if (auto sizes = op.getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes"))
    return SmallVector<int32_t>(sizes.asArrayRef());
  if (auto attention = dyn_cast<AttentionOp>(op))
    return {1, 1, 1, attention.getMask() ? 1 : 0};
  // One operand a group, so that an op without operands has no group at all.
  return SmallVector<int32_t>(op.getNumOperands(), 1);
}

Result<Step> FunctionEmitter::makeStep(Operation &op) {
  Step step;
  bool ours = isa_and_nonnull<IngotDialect>(op.getDialect());
  step.kernel = ours ? op.getName().stripDialect().str() : op.getName().getStringRef().str();
  unsigned next = 0;
  for (int32_t size : segmentSizes(op)) {
    if (size == 0)
      step.operands.push_back(kNoValue);
    for (int32_t i = 0; i < size; ++i)
      step.operands.push_back(ids.lookup(op.getOperand(next++)));
  }
  INGOT_TRY(step.attributes, isa<AtenOp>(op) ? carrierAttributes(cast<AtenOp>(op)) : planAttributes(op));
  SourceInfo source = sourceInfo(op.getLoc());
  step.node = source.node;
  if (!source.file.empty())
    step.source = source.file + ":" + std::to_string(source.line);
  for (OpResult result : op.getResults()) {
    INGOT_TRY(ValueId id, define(result));
    step.results.push_back(id);
  }
  return step;
}

Status FunctionEmitter::emitResults() {
  Operation *terminator = func.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(terminator->getOperands())) {
    DictionaryAttr attributes = func.getResultAttrDict(i);
    ValueId id = ids.lookup(result);
    if (StringRef name = stringAttr(attributes, attr::kState); !name.empty()) {
      auto state = llvm::find_if(out.states, [&](const State &s) { return s.name == name; });
      if (state == out.states.end())
        return corruptError("state `" + name.str() + "` is written but never an argument");
      state->output = id;
      continue;
    }
    if (StringRef argument = stringAttr(attributes, attr::kMutates); !argument.empty()) {
      INGOT_CHECK(emitWrittenArgument(argument, id));
      continue;
    }
    Output output;
    output.name = stringAttr(attributes, attr::kName).str();
    output.value = id;
    out.outputs.push_back(std::move(output));
  }
  return {};
}

/// An argument that the program changes is a state in the caller's memory, under the argument's name.
Status FunctionEmitter::emitWrittenArgument(StringRef argument, ValueId newValue) {
  auto input = llvm::find_if(out.inputs, [&](const Input &each) { return each.name == argument; });
  if (input == out.inputs.end())
    return corruptError("argument `" + argument.str() + "` is written but not there");
  std::string name = argument.str();
  auto isTaken = [&](const State &state) { return state.name == name; };
  for (int number = 1; llvm::any_of(out.states, isTaken); ++number)
    name = argument.str() + "_" + std::to_string(number); // a buffer of the same name
  out.states.push_back({name, input->value, newValue, ""});
  return {};
}

/// Puts the literals of the flat call where they stand between the tensors.
void insertLiterals(std::vector<Input> &inputs, ArrayAttr flat) {
  if (!flat)
    return;
  for (auto [i, entry] : llvm::enumerate(flat)) {
    auto literal = dyn_cast<ArrayAttr>(entry);
    if (!literal || literal.size() != 2 || i > inputs.size())
      continue;
    // Bytecode may come from a damaged asset, so even our own attributes are not trusted.
    auto name = dyn_cast<StringAttr>(literal[0]), text = dyn_cast<StringAttr>(literal[1]);
    if (!name || !text)
      continue;
    Input input;
    input.name = name.str();
    input.literal = text.str();
    inputs.insert(inputs.begin() + static_cast<ptrdiff_t>(i), std::move(input));
  }
}

/// `flat` may name one result twice or in another order; literals are JSON strings.
std::vector<Output> flatOutputs(const std::vector<Output> &outputs, ArrayAttr flat, ArrayAttr names) {
  std::vector<Output> ordered;
  for (auto [i, entry] : llvm::enumerate(flat)) {
    if (auto index = dyn_cast<IntegerAttr>(entry)) {
      if (static_cast<size_t>(index.getInt()) >= outputs.size())
        continue;
      ordered.push_back(outputs[index.getInt()]);
      if (auto name = names && i < names.size() ? dyn_cast<StringAttr>(names[i]) : nullptr)
        ordered.back().name = name.str();
    } else if (auto literal = dyn_cast<StringAttr>(entry)) {
      ordered.push_back({"", kNoValue, literal.str()});
    }
  }
  return ordered;
}

void FunctionEmitter::emitSignature() {
  out.inSpec = stringAttr(func->getAttrDictionary(), attr::kInSpec).str();
  out.outSpec = stringAttr(func->getAttrDictionary(), attr::kOutSpec).str();
  insertLiterals(out.inputs, func->getAttrOfType<ArrayAttr>(attr::kFlatInputs));
  if (auto flat = func->getAttrOfType<ArrayAttr>(attr::kFlatOutputs))
    out.outputs = flatOutputs(out.outputs, flat, func->getAttrOfType<ArrayAttr>(attr::kOutputNames));
  if (auto symbols = func->getAttrOfType<DictionaryAttr>(attr::kSymbols))
    for (NamedAttribute symbol : symbols)
      if (auto range = dyn_cast<ArrayAttr>(symbol.getValue()); range && range.size() == 2) {
        auto low = dyn_cast<IntegerAttr>(range[0]), high = dyn_cast<IntegerAttr>(range[1]);
        if (low && high)
          out.symbols.push_back({symbol.getName().str(), low.getInt(), high.getInt()});
      }
}

} // namespace

// Programs also come from assets that anybody may have written: what does not fit together is the file's fault.
Result<Plan> emitPlan(ModuleOp module) {
  Plan plan;
  for (auto func : module.getOps<func::FuncOp>()) {
    INGOT_TRY(Function function, FunctionEmitter(func).emit());
    plan.functions.push_back(std::move(function));
  }
  return plan;
}

} // namespace ingot
