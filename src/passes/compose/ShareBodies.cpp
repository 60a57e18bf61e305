#include "dialect/Conventions.h"
#include "dialect/CustomOps.h"
#include "passes/compose/Passes.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_SHAREBODIESPASS
#include "passes/compose/Passes.h.inc"

namespace {

bool isSame(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a->getAttr(attr::kCompositeDecl) == b->getAttr(attr::kCompositeDecl) &&
         a->getAttr(attr::kMetalKernel) == b->getAttr(attr::kMetalKernel) &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

struct ShareBodiesPass : impl::ShareBodiesPassBase<ShareBodiesPass> {
  void runOnOperation() override {
    // Once inner bodies are one, the outer ones that call them may be too.
    while (shareOnce())
      ;
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (func.isPrivate() && SymbolTable::symbolKnownUseEmpty(func, getOperation()))
        func.erase();
  }

private:
  bool shareOnce() {
    SmallVector<func::FuncOp> kept;
    bool hasChanged = false;
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!func.isPrivate())
        continue;
      auto same = llvm::find_if(kept, [&](func::FuncOp other) { return isSame(func, other); });
      if (same == kept.end()) {
        kept.push_back(func);
        continue;
      }
      if (succeeded(SymbolTable::replaceAllSymbolUses(func, same->getSymNameAttr(), getOperation()))) {
        func.erase();
        hasChanged = true;
      }
    }
    return hasChanged;
  }
};

} // namespace
} // namespace ingot
