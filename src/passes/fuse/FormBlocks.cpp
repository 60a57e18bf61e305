#include "dialect/InferShape.h"
#include "passes/ConstantOnly.h"
#include "passes/Pointwise.h"
#include "passes/fuse/Passes.h"

#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FORMBLOCKSPASS
#include "passes/fuse/Passes.h.inc"

namespace {

bool isDepthwise(ConvOp conv) {
  auto groups = static_cast<int64_t>(conv.getGroups());
  return groups > 1 && conv.getX().getType().getDimSize(1) == groups &&
         conv.getWeight().getType().getDimSize(0) == groups && !conv.getResidual() && isPlainImageConv(conv);
}

/// The pointwise convolution before it, of which nobody else needs the result; null where there is none.
ConvOp expansionOf(ConvOp conv) {
  auto before = conv.getX().getDefiningOp<ConvOp>();
  return before && before->hasOneUse() && !before.getResidual() && isPointwise(before) && isPlainImageConv(before)
             ? before
             : ConvOp();
}

bool isOverPixels(ReduceOp sum) {
  ArrayRef<int64_t> dims = sum.getDims();
  return sum.getKind() == ReduceKind::Sum && dims.size() == 2 && llvm::is_contained(dims, 2) &&
         llvm::is_contained(dims, 3);
}

/// What makes the means of a value over its pixels: a pooling, or a sum that is divided.
Operation *meansOf(Value image) {
  auto type = cast<RankedTensorType>(image.getType());
  for (Operation *user : image.getUsers()) {
    if (auto pool = dyn_cast<AdaptiveAvgPoolOp>(user); pool && pool.getOutput() == ArrayRef<int64_t>({1, 1}))
      return pool;
    auto sum = dyn_cast<ReduceOp>(user);
    if (!sum || !sum->hasOneUse() || !isOverPixels(sum))
      continue;
    auto quotient = dyn_cast<DivOp>(*sum->user_begin());
    const int64_t pixels = elementCount(type.getShape().take_back(2));
    if (quotient && quotient.getA() == sum.getResult() && quotient.getType() == sum.getType() &&
        !ShapedType::isDynamic(pixels) && isSplatOf(quotient.getB(), static_cast<double>(pixels)))
      return quotient;
  }
  return nullptr;
}

struct FormBlock : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp conv, PatternRewriter &rewriter) const override {
    if (!isDepthwise(conv))
      return rewriter.notifyMatchFailure(conv, "not one filter a channel");
    ConvOp before = expansionOf(conv);
    Operation *means = meansOf(conv);
    if (!before && !means)
      return rewriter.notifyMatchFailure(conv, "nothing to join it with");
    SmallVector<Type> meansTypes;
    if (means)
      meansTypes.push_back(means->getResult(0).getType());
    auto block = rewriter.create<DepthwiseBlockOp>(
        conv.getLoc(), conv.getType(), meansTypes, before ? before.getX() : conv.getX(), conv.getWeight(),
        conv.getBias(), before ? before.getWeight() : Value(), before ? before.getBias() : Value(), conv.getStrides(),
        conv.getPadLow(), conv.getPadHigh(), conv.getDilations(), conv.getActivation(),
        before ? before.getActivation() : Activation::None);
    if (means)
      rewriter.replaceOp(means, block.getMeans());
    rewriter.replaceOp(conv, block.getResult());
    return success();
  }
};

struct FormBlocksPass : impl::FormBlocksPassBase<FormBlocksPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FormBlock>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
