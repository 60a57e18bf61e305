#include "dialect/Ops.h"
#include "lower/Emit.h"
#include "passes/compose/NativeForms.h"
#include "passes/compose/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_INLINEBODIESPASS
#include "passes/compose/Passes.h.inc"

namespace {

/// Calls in calls in calls: more than any model has, and few enough that a damaged asset ends.
constexpr size_t kMaxRounds = 64;

/// `value` as a tensor of a type that may know other sizes.
Value conform(lower::Emitter &emit, Value value, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return value.getType() == type || !tensor ? value : emit.reshapeTo(value, tensor);
}

LogicalResult inlineCall(func::CallOp call, func::FuncOp body) {
  if (body.isDeclaration() || body.getNumArguments() != call.getNumOperands() ||
      body.getResultTypes().size() != call.getNumResults())
    return call.emitError("does not fit the function it calls");
  OpBuilder builder(call);
  lower::Emitter emit(builder, call.getLoc());
  IRMapping mapping;
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), call.getOperands()))
    mapping.map(argument, conform(emit, operand, argument.getType()));
  Block &block = body.getBody().front();
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  for (auto [result, given] : llvm::zip_equal(call.getResults(), block.getTerminator()->getOperands()))
    result.replaceAllUsesWith(conform(emit, mapping.lookupOrDefault(given), result.getType()));
  call.erase();
  return success();
}

struct InlineBodiesPass : impl::InlineBodiesPassBase<InlineBodiesPass> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      useNativeForm(func);
    for (size_t round = 0;; ++round) {
      SmallVector<func::CallOp> calls;
      getOperation().walk([&](func::CallOp call) {
        if (!call->getParentOfType<func::FuncOp>().isPrivate())
          calls.push_back(call);
      });
      if (calls.empty())
        break;
      if (round == kMaxRounds) {
        calls.front().emitError("functions call each other without end");
        return signalPassFailure();
      }
      for (func::CallOp call : calls) {
        auto body = getOperation().lookupSymbol<func::FuncOp>(call.getCallee());
        if (!body || failed(inlineCall(call, body)))
          return signalPassFailure();
      }
    }
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (func.isPrivate())
        func.erase();
  }
};

} // namespace
} // namespace ingot
