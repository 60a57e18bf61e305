#include "passes/ConstantOnly.h"
#include "passes/Passes.h"

#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDGATHERPASS
#include "passes/Passes.h.inc"

namespace {

/// Indices that shape the leading dimensions of the chosen matrices; null where a reshape does something else.
Value indicesAs(ReshapeOp reshape, IndexSelectOp chosen, PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(reshape.getType());
  auto index = cast<RankedTensorType>(chosen.getIndex().getType());
  ArrayRef<int64_t> matrix = cast<RankedTensorType>(chosen.getX().getType()).getShape().drop_front();
  if (!type.hasStaticShape() || !index.hasStaticShape() || type.getRank() < 2 ||
      type.getShape().take_back(2) != matrix || type.getNumElements() == 0)
    return {};
  ArrayRef<int64_t> sizes = type.getShape().drop_back(2);
  auto wanted = RankedTensorType::get(sizes, index.getElementType());
  if (wanted.getNumElements() != index.getNumElements())
    return {};
  return rewriter.create<ReshapeOp>(reshape.getLoc(), wanted, chosen.getIndex(), ValueRange(),
                                    rewriter.getDenseI64ArrayAttr(sizes));
}

struct FoldGather : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getB().getDefiningOp<ReshapeOp>();
    auto chosen = (reshape ? reshape.getX() : Value(op.getB())).getDefiningOp<IndexSelectOp>();
    if (!chosen || chosen.getAxis() != 0 || cast<RankedTensorType>(chosen.getX().getType()).getRank() != 3)
      return rewriter.notifyMatchFailure(op, "no matrices out of a table");
    if (!cast<RankedTensorType>(op.getType()).getElementType().isF32() || op.getBias() || op.getResidual() ||
        op.getActivation() != Activation::None)
      return rewriter.notifyMatchFailure(op, "more than a product of f32");
    if (isConstantOnly(chosen.getResult()))
      return rewriter.notifyMatchFailure(op, "the matrices are chosen when the program is loaded");
    Value indices = reshape ? indicesAs(reshape, chosen, rewriter) : Value(chosen.getIndex());
    if (!indices)
      return rewriter.notifyMatchFailure(op, "the matrices are not used as they are");
    auto made = rewriter.replaceOpWithNewOp<GatherMatmulOp>(op, op.getType(), op.getA(), chosen.getX(), indices);
    made->setDiscardableAttrs(chosen->getDiscardableAttrDictionary()); // whether negative positions are taken
    return success();
  }
};

struct FoldGatherPass : impl::FoldGatherPassBase<FoldGatherPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldGather>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
