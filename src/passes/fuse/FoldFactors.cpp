#include "dialect/InferShape.h"
#include "passes/ConstantOnly.h"
#include "passes/Pointwise.h"
#include "passes/fuse/Passes.h"

#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDFACTORSPASS
#include "passes/fuse/Passes.h.inc"

namespace {

/// One factor for each channel of the image, and for each image unless it is the same for all.
bool areFactors(Value factors, RankedTensorType image) {
  auto type = cast<RankedTensorType>(factors.getType());
  return type.getRank() == 4 && type.getElementType() == image.getElementType() && !type.isDynamicDim(1) &&
         type.getDimSize(1) == image.getDimSize(1) && type.getDimSize(2) == 1 && type.getDimSize(3) == 1 &&
         (type.getDimSize(0) == 1 || type.getDimSize(0) == image.getDimSize(0)) && !isConstantOnly(factors);
}

/// So many times more pixels than results of each: a copy of the filters is then small beside the image.
constexpr int64_t kMinPixels = 4;

bool isLarge(ConvOp conv) {
  const int64_t pixels = elementCount(conv.getX().getType().getShape().take_back(2));
  return !ShapedType::isDynamic(pixels) && pixels / kMinPixels >= conv.getWeight().getType().getDimSize(0);
}

/// An element-wise op would multiply as it writes the image anyway.
bool isMadeByCluster(Value image) {
  Operation *producer = image.getDefiningOp();
  return producer && producer->hasTrait<Elementwise>() && image.hasOneUse();
}

struct FoldFactors : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp conv, PatternRewriter &rewriter) const override {
    auto mul = conv.getX().getDefiningOp<MulOp>();
    if (!mul || !mul->hasOneUse() || !isPointwise(conv) || !isPlainImageConv(conv) || !isLarge(conv))
      return rewriter.notifyMatchFailure(conv, "no pointwise convolution of a large product that nobody else needs");
    for (auto [image, factors] : {std::pair(mul.getA(), mul.getB()), std::pair(mul.getB(), mul.getA())})
      if (image.getType() == mul.getType() && areFactors(factors, mul.getType()) && !isMadeByCluster(image)) {
        rewriter.replaceOpWithNewOp<ScaledPointwiseOp>(conv, conv.getType(), image, conv.getWeight(), conv.getBias(),
                                                       conv.getResidual(), factors, conv.getActivation());
        return success();
      }
    return rewriter.notifyMatchFailure(conv, "not one factor for each channel");
  }
};

struct FoldFactorsPass : impl::FoldFactorsPassBase<FoldFactorsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldFactors>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
