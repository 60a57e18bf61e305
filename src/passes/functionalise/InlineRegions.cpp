#include "import/Carrier.h"
#include "passes/functionalise/InPlace.h"
#include "passes/functionalise/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {
namespace {

/// Operands of the node's positional arguments after its sub-graph, lists opened.
SmallVector<Value> bodyOperands(AtenOp op) {
  SmallVector<Value> operands;
  bool afterGraph = false;
  for (size_t position = 0;; ++position) {
    Attribute argument = op.getArgs().get("arg" + std::to_string(position));
    if (!argument)
      return operands;
    if (isa<RegionRefAttr>(argument)) {
      afterGraph = true;
      continue;
    }
    if (afterGraph)
      argument.walk([&](ValueRefAttr value) { operands.push_back(op.getValues()[value.getIndex()]); });
  }
}

/// Regions that are called exactly once and only set a mode that inference does not have.
bool isPlainCall(StringRef target) {
  static const llvm::StringSet<> names = {"higher_order::wrap_with_set_grad_enabled", "higher_order::wrap",
                                          "higher_order::strict_mode", "higher_order::invoke_subgraph",
                                          "higher_order::tag_activation_checkpoint"};
  return names.contains(target);
}

/// Arguments are device, dtype, enabled, cache_enabled, graph. Autocast of another device leaves a CPU's tensors alone.
bool isIdleAutocast(AtenOp op) {
  auto device = op.getArgs().getAs<StringAttr>("arg0");
  return booleanOf(op, "arg2") == false || (device && device.getValue() != "cpu");
}

/// bfloat16 where the node names no type.
Type autocastType(AtenOp op) {
  auto type = op.getArgs().getAs<TypeAttr>("arg1");
  return type && isa<FloatType>(type.getValue()) ? type.getValue() : BFloat16Type::get(op.getContext());
}

bool isAutocast(AtenOp op) { return op.getTarget() == "higher_order::wrap_with_autocast"; }

/// The innermost region decides: one may be switched off inside another.
void castUnderAutocast(AtenOp op) {
  AtenOp region = op->getParentOfType<AtenOp>();
  while (region && !isAutocast(region))
    region = region->getParentOfType<AtenOp>();
  if (region && !isIdleAutocast(region))
    applyAutocast(op, autocastType(region));
}

LogicalResult inlineBody(AtenOp op) {
  if (op.getGraphs().size() != 1)
    return op.emitError("'") << op.getTarget() << "' needs one sub-graph";
  Block &body = op.getGraphs().front().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  SmallVector<Value> operands = bodyOperands(op);
  bool fits =
      ValueRange(operands).getTypes() == body.getArgumentTypes() && yield.getValues().getTypes() == op.getResultTypes();
  if (!fits)
    return op.emitError("'") << op.getTarget() << "': operands or results do not match those of the sub-graph";
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), operands))
    argument.replaceAllUsesWith(operand);
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations(), body.begin(), yield->getIterator());
  op->replaceAllUsesWith(yield.getValues());
  op.erase();
  return success();
}

LogicalResult inlineIfPlain(AtenOp op) {
  if (isPlainCall(op.getTarget()))
    return inlineBody(op);
  return isAutocast(op) ? inlineBody(op) : success();
}

struct InlineRegionsPass : PassWrapper<InlineRegionsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineRegionsPass)

  StringRef getArgument() const override { return "inline-regions"; }
  StringRef getDescription() const override { return "inlines regions that only set a mode of PyTorch"; }

  void runOnOperation() override {
    // Innermost first: what moves out of a region has no such region inside any more.
    SmallVector<AtenOp> ops;
    getOperation().walk<WalkOrder::PostOrder>([&](AtenOp op) { ops.push_back(op); });
    for (AtenOp op : ops)
      castUnderAutocast(op);
    for (AtenOp op : ops)
      if (failed(inlineIfPlain(op)))
        signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createInlineRegionsPass() { return std::make_unique<InlineRegionsPass>(); }

} // namespace ingot
