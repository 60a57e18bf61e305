#include "passes/ConstantOnly.h"
#include "passes/Passes.h"

#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDACTIVATIONPASS
#include "passes/Passes.h.inc"

namespace {

/// Sets `activation` on the product that defines `x` and lets it replace `root`.
LogicalResult applyTo(Operation *root, Value x, Activation activation, PatternRewriter &rewriter) {
  auto fold = [&](auto op) {
    op.setActivation(activation);
    rewriter.replaceOp(root, op->getResults());
    return success();
  };
  if (isa<ComplexType>(getElementTypeOrSelf(x.getType())))
    return rewriter.notifyMatchFailure(root, "products of complex numbers have no activations");
  if (root->getResult(0).getType() != x.getType() || !x.hasOneUse())
    return rewriter.notifyMatchFailure(root, "the value before the activation is needed as well");
  if (auto conv = x.getDefiningOp<ConvOp>(); conv && conv.getActivation() == Activation::None)
    return fold(conv);
  auto matmul = x.getDefiningOp<MatmulOp>();
  if (matmul && matmul.getActivation() == Activation::None && !matmul.getResidual())
    return fold(matmul);
  return rewriter.notifyMatchFailure(root, "no convolution or matrix product before it");
}

template <typename ActivationOp, Activation activation> struct FoldUnary : OpRewritePattern<ActivationOp> {
  using OpRewritePattern<ActivationOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(ActivationOp op, PatternRewriter &rewriter) const override {
    return applyTo(op, op.getX(), activation, rewriter);
  }
};

/// min(max(x, 0), 6), as hardtanh lowers to.
struct FoldRelu6 : OpRewritePattern<MinimumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MinimumOp op, PatternRewriter &rewriter) const override {
    auto lower = op.getA().getDefiningOp<MaximumOp>();
    if (!lower || !lower->hasOneUse() || !isSplatOf(op.getB(), 6.0) || !isSplatOf(lower.getB(), 0.0))
      return rewriter.notifyMatchFailure(op, "not min(max(x, 0), 6)");
    return applyTo(op, lower.getA(), Activation::Relu6, rewriter);
  }
};

/// x * sigmoid(x), as silu is decomposed.
struct RecogniseSilu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(op.getType().getElementType()))
      return rewriter.notifyMatchFailure(op, "not of real numbers");
    for (auto [x, gate] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())})
      if (auto sigmoid = gate.getDefiningOp<SigmoidOp>(); sigmoid && sigmoid.getX() == x) {
        rewriter.replaceOpWithNewOp<SiluOp>(op, op.getType(), x);
        return success();
      }
    return rewriter.notifyMatchFailure(op, "not x * sigmoid(x)");
  }
};

struct FoldActivationPass : impl::FoldActivationPassBase<FoldActivationPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RecogniseSilu, FoldRelu6, FoldUnary<ReluOp, Activation::Relu>, FoldUnary<GeluOp, Activation::Gelu>,
                 FoldUnary<GeluTanhOp, Activation::GeluTanh>, FoldUnary<SiluOp, Activation::Silu>,
                 FoldUnary<SigmoidOp, Activation::Sigmoid>, FoldUnary<TanhOp, Activation::Tanh>,
                 FoldUnary<HardSwishOp, Activation::HardSwish>, FoldUnary<HardSigmoidOp, Activation::HardSigmoid>>(
        &getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
