#include "passes/ConstantOnly.h"
#include "passes/Passes.h"
#include "passes/fold/Channel.h"

#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDBIASPASS
#include "passes/Passes.h.inc"

namespace {

/// The dimension of the result that a bias of the op runs along.
int64_t biasAxis(ConvOp) { return 1; }
int64_t biasAxis(MatmulOp op) { return op.getType().getRank() - 1; }

template <typename ProductOp> struct FoldBias : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    for (auto [product, term] : {std::pair(add.getA(), add.getB()), std::pair(add.getB(), add.getA())})
      if (auto op = product.template getDefiningOp<ProductOp>())
        if (succeeded(fold(add, op, term, rewriter)))
          return success();
    return rewriter.notifyMatchFailure(add, "no product plus a constant per channel");
  }

  static LogicalResult fold(AddOp add, ProductOp op, Value term, PatternRewriter &rewriter) {
    if (!op->hasOneUse() || op.getActivation() != Activation::None || op.getResidual() ||
        op.getType() != add.getType() || !isa<FloatType>(op.getType().getElementType()))
      return rewriter.notifyMatchFailure(add, "the product is needed as it is");
    if (!isConstantOnly(term) || (op.getBias() && !isConstantOnly(op.getBias())))
      return rewriter.notifyMatchFailure(add, "the term is not constant");
    if (op.getBias() && cast<RankedTensorType>(op.getBias().getType()).getRank() != 1)
      return rewriter.notifyMatchFailure(add, "the product has a bias of another form");
    Value bias = asChannelVector(rewriter, term, op.getType(), biasAxis(op));
    if (!bias)
      return rewriter.notifyMatchFailure(add, "the term is not one per channel");
    if (op.getBias())
      bias = rewriter.create<AddOp>(add.getLoc(), bias.getType(), op.getBias(), bias);
    Operation *fused = rewriter.clone(*op);
    cast<ProductOp>(fused).getBiasMutable().assign(bias);
    rewriter.replaceOp(add, fused);
    return success();
  }
};

struct FoldBiasPass : impl::FoldBiasPassBase<FoldBiasPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldBias<ConvOp>, FoldBias<MatmulOp>>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
