#include "passes/Passes.h"

#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDPADPASS
#include "passes/Passes.h.inc"

namespace {

/// Zeros around the spatial dimensions only, fewer than the window reaches over.
bool isZeroFrame(PadOp pad, ConvOp conv) {
  if (pad.getMode() != PadMode::Constant || !pad.getValue().isZero())
    return false;
  ArrayRef<int64_t> low = pad.getLow(), high = pad.getHigh();
  ArrayRef<int64_t> filter = cast<RankedTensorType>(conv.getWeight().getType()).getShape();
  for (size_t i = 0; i < low.size(); ++i) {
    if (low[i] < 0 || high[i] < 0)
      return false;
    if (i < 2 && (low[i] != 0 || high[i] != 0))
      return false;
    if (i >= 2 && std::max(low[i], high[i]) > (filter[i] - 1) * conv.getDilations()[i - 2])
      return false;
  }
  return true;
}

struct FoldPad : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp conv, PatternRewriter &rewriter) const override {
    auto pad = conv.getX().getDefiningOp<PadOp>();
    if (!pad || conv.getTransposed() || !cast<RankedTensorType>(conv.getWeight().getType()).hasStaticShape() ||
        !isZeroFrame(pad, conv))
      return rewriter.notifyMatchFailure(conv, "no zeros around the image");
    SmallVector<int64_t> low(conv.getPadLow()), high(conv.getPadHigh());
    for (size_t i = 0; i < low.size(); ++i) {
      low[i] += pad.getLow()[i + 2];
      high[i] += pad.getHigh()[i + 2];
    }
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getXMutable().assign(pad.getX());
      conv.setPadLow(low);
      conv.setPadHigh(high);
    });
    return success();
  }
};

struct FoldPadPass : impl::FoldPadPassBase<FoldPadPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldPad>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
