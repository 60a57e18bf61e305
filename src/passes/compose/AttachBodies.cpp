#include "dialect/Conventions.h"
#include "dialect/Ops.h"
#include "passes/compose/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_ATTACHBODIESPASS
#include "passes/compose/Passes.h.inc"

namespace {

struct AttachBodiesPass : impl::AttachBodiesPassBase<AttachBodiesPass> {
  void runOnOperation() override {
    llvm::StringMap<func::FuncOp> bodies;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (auto target = func->getAttrOfType<StringAttr>(attr::kBodyOf))
        bodies[target.getValue()] = func;
    SmallVector<AtenOp> nodes;
    getOperation().walk([&](AtenOp op) {
      if (bodies.contains(op.getTarget()))
        nodes.push_back(op);
    });
    for (AtenOp node : nodes)
      if (failed(attach(node, bodies.lookup(node.getTarget()))))
        return signalPassFailure();
    for (auto &[target, func] : bodies) {
      func.setPrivate();
      func->removeAttr(attr::kWeights);
      func->removeAttr(attr::kBodyOf);
    }
  }

private:
  static LogicalResult attach(AtenOp node, func::FuncOp body) {
    OpBuilder builder(node);
    SmallVector<Value> operands;
    auto keys = body->getAttrOfType<ArrayAttr>(attr::kWeights);
    for (auto [key, type] : llvm::zip_first(keys.getAsRange<StringAttr>(), body.getArgumentTypes()))
      operands.push_back(builder.create<WeightOp>(node.getLoc(), cast<RankedTensorType>(type), key));
    llvm::append_range(operands, node.getValues());
    FunctionType type = body.getFunctionType();
    if (operands.size() != type.getNumInputs() || node.getNumResults() != type.getNumResults())
      return node.emitError("the body of ")
             << node.getTarget() << " takes " << type.getNumInputs() << " values and gives " << type.getNumResults()
             << ", the node has " << operands.size() << " and " << node.getNumResults();
    auto call = builder.create<func::CallOp>(node.getLoc(), body.getSymName(), node.getResultTypes(), operands);
    node.replaceAllUsesWith(call.getResults());
    node.erase();
    return success();
  }
};

} // namespace
} // namespace ingot
