#include "passes/ConstantOnly.h"
#include "passes/Passes.h"
#include "passes/fold/Channel.h"

#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDCONVSCALEPASS
#include "passes/Passes.h.inc"

namespace {

struct FoldConvScale : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp mul, PatternRewriter &rewriter) const override {
    for (auto [product, factor] : {std::pair(mul.getA(), mul.getB()), std::pair(mul.getB(), mul.getA())})
      if (auto conv = product.getDefiningOp<ConvOp>(); conv && succeeded(fold(mul, conv, factor, rewriter)))
        return success();
    return rewriter.notifyMatchFailure(mul, "no convolution times a constant per channel");
  }

  static LogicalResult fold(MulOp mul, ConvOp conv, Value factor, PatternRewriter &rewriter) {
    // A transposed convolution with groups has its output channels spread over two dimensions.
    bool groupedTransposed = conv.getTransposed() && conv.getGroups() != 1;
    if (!conv->hasOneUse() || conv.getActivation() != Activation::None || conv.getResidual() || groupedTransposed ||
        conv.getType() != mul.getType())
      return rewriter.notifyMatchFailure(mul, "the convolution's result is needed as it is");
    if (!isConstantOnly(factor) || !isConstantOnly(conv.getWeight()) ||
        (conv.getBias() && !isConstantOnly(conv.getBias())))
      return rewriter.notifyMatchFailure(mul, "factor or weights are not constant");
    Value scale = asChannelVector(rewriter, factor, conv.getType(), 1);
    if (!scale)
      return rewriter.notifyMatchFailure(mul, "the factor is not one per channel");

    auto weightType = cast<RankedTensorType>(conv.getWeight().getType());
    Value spread = alongAxis(rewriter, scale, weightType.getRank(), conv.getTransposed() ? 1 : 0);
    Value weight = rewriter.create<MulOp>(mul.getLoc(), weightType, conv.getWeight(), spread);
    Value bias = conv.getBias();
    if (bias)
      bias = rewriter.create<MulOp>(mul.getLoc(), bias.getType(), bias, scale);
    rewriter.replaceOpWithNewOp<ConvOp>(
        mul, conv.getType(), conv.getX(), weight, bias, Value(), conv.getStrides(), conv.getPadLow(), conv.getPadHigh(),
        conv.getDilations(), conv.getOutputPadding(), conv.getGroups(), conv.getTransposed(), Activation::None);
    return success();
  }
};

struct FoldConvScalePass : impl::FoldConvScalePassBase<FoldConvScalePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldConvScale>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
