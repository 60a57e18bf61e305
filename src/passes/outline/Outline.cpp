#include "dialect/ControlOps.h"
#include "passes/outline/Passes.h"
#include "passes/outline/Segments.h"

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_OUTLINEPASS
#include "passes/outline/Passes.h.inc"

namespace {

/// Moves a sub-graph into a function of its own; the function's name.
std::string moveBody(func::FuncOp user, Region &body, int &count, SmallVectorImpl<func::FuncOp> &made) {
  Block &block = body.front();
  auto yield = cast<YieldOp>(block.getTerminator());
  func::FuncOp func =
      makePrivate(user, "body" + std::to_string(count++), block.getArgumentTypes(), yield.getValues().getTypes());
  func.getBody().takeBody(body);
  OpBuilder builder(yield);
  builder.create<func::ReturnOp>(yield.getLoc(), yield.getValues());
  yield.erase();
  made.push_back(func);
  return func.getName().str();
}

struct Invocation {
  StringRef kind;
  SmallVector<int64_t> groups;
};

Invocation invocationOf(Operation &op) {
  if (auto loop = dyn_cast<WhileOp>(op))
    return {"while", {int64_t(loop.getCarried().size()), 0, int64_t(loop.getExtra().size())}};
  if (auto scan = dyn_cast<ForEachOp>(op))
    return {scan.getAssociative() ? "fold" : "scan",
            {int64_t(scan.getCarried().size()), int64_t(scan.getSequences().size()), int64_t(scan.getExtra().size())}};
  return {"if", {}};
}

struct OutlinePass : impl::OutlinePassBase<OutlinePass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> work(getOperation().getOps<func::FuncOp>());
    // Functions made on the way are looked at too: bodies hold bodies.
    for (size_t i = 0; i < work.size(); ++i) {
      if (work[i].isDeclaration())
        continue;
      func::FuncOp func = work[i];
      moveBodies(func, work);
      cutIntoSegments(func);
    }
  }

private:
  static void moveBodies(func::FuncOp func, SmallVectorImpl<func::FuncOp> &made) {
    int count = 0;
    for (Operation &op : llvm::make_early_inc_range(func.getBody().front())) {
      if (!isa<IfOp, WhileOp, ForEachOp>(op))
        continue;
      SmallVector<std::string> names;
      for (Region &body : op.getRegions())
        names.push_back(moveBody(func, body, count, made));
      SmallVector<StringRef> refs(names.begin(), names.end());
      Invocation invocation = invocationOf(op);
      OpBuilder builder(&op);
      auto invoke = builder.create<InvokeOp>(op.getLoc(), op.getResultTypes(), op.getOperands(),
                                             builder.getStringAttr(invocation.kind), builder.getStrArrayAttr(refs),
                                             builder.getDenseI64ArrayAttr(invocation.groups));
      op.replaceAllUsesWith(invoke.getResults());
      op.erase();
    }
  }
};

} // namespace
} // namespace ingot
