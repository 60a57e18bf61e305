#include "passes/ConstantOnly.h"
#include "passes/Passes.h"

#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDRESIDUALPASS
#include "passes/Passes.h.inc"

namespace {

/// A convolution adds its residual before the activation, a product after it (see Ops.td).
bool residualFits(ConvOp op) { return op.getActivation() == Activation::None; }
bool residualFits(MatmulOp) { return true; }

template <typename ProductOp> struct FoldResidual : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    // The operand computed last is preferred: the other one is then surely there already.
    for (auto [product, other] : {std::pair(add.getB(), add.getA()), std::pair(add.getA(), add.getB())})
      if (auto op = product.template getDefiningOp<ProductOp>())
        if (op->hasOneUse() && !op.getResidual() && residualFits(op) && op.getType() == add.getType() &&
            other.getType() == add.getType() && !isConstantOnly(other)) {
          Operation *fused = rewriter.clone(*op);
          cast<ProductOp>(fused).getResidualMutable().assign(other);
          rewriter.replaceOp(add, fused);
          return success();
        }
    return rewriter.notifyMatchFailure(add, "no product plus a tensor of its shape");
  }
};

struct FoldResidualPass : impl::FoldResidualPassBase<FoldResidualPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldResidual<ConvOp>, FoldResidual<MatmulOp>>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
