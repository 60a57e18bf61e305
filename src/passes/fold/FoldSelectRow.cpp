#include "passes/Passes.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/IR/Matchers.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDSELECTROWPASS
#include "passes/Passes.h.inc"

namespace {

std::optional<int64_t> numberOf(Value scalar) {
  APInt number;
  return matchPattern(scalar, m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

/// One position along one dimension, which is what a mask shows.
struct Row {
  int64_t position;
  int64_t count;
};

/// 0, 1, ... compared with a constant.
std::optional<Row> rowOf(EqOp mask) {
  Value positions = mask.getA();
  if (auto reshape = positions.getDefiningOp<ReshapeOp>())
    positions = reshape.getX();
  auto iota = positions.getDefiningOp<IotaOp>();
  auto constant = mask.getB().getDefiningOp<ConstantOp>();
  auto wanted = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!iota || !wanted || wanted.getNumElements() != 1)
    return std::nullopt;
  // Numbers of a small type would come round to the same value again.
  if (cast<RankedTensorType>(iota.getType()).getElementTypeBitWidth() < 32)
    return std::nullopt;
  std::optional<int64_t> start = numberOf(iota.getStart()), step = numberOf(iota.getStep());
  std::optional<int64_t> count = numberOf(iota.getCount());
  if (start != 0 || step != 1 || !count)
    return std::nullopt;
  return Row{wanted.getSplatValue<APInt>().getSExtValue(), *count};
}

struct FoldSelectRow : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    auto mask = op.getCondition().getDefiningOp<EqOp>();
    std::optional<Row> row = mask ? rowOf(mask) : std::nullopt;
    if (!row || !type.hasStaticShape() || op.getA().getType() != type || op.getB().getType() != type)
      return rewriter.notifyMatchFailure(op, "not a choice of one position");
    auto maskType = cast<RankedTensorType>(mask.getType());
    if (row->position < 0 || row->position >= row->count || maskType.getRank() != type.getRank())
      return rewriter.notifyMatchFailure(op, "the position is not along a dimension of the result");
    if (row->count == 1) {
      rewriter.replaceOp(op, op.getA());
      return success();
    }
    // All other dimensions of the mask have size 1, because it has as many elements as there are positions.
    const auto *found = llvm::find(maskType.getShape(), row->count);
    const int64_t axis = found - maskType.getShape().begin();
    if (found == maskType.getShape().end() || type.getDimSize(axis) != row->count)
      return rewriter.notifyMatchFailure(op, "the mask is broadcast along its positions");
    insert(op, axis, row->position, rewriter);
    return success();
  }

private:
  static void insert(SelectOp op, int64_t axis, int64_t position, PatternRewriter &rewriter) {
    auto bounds = rewriter.getDenseI64ArrayAttr({position, position + 1});
    Value source = rowFrom(op, op.getA(), axis, bounds, rewriter);
    rewriter.replaceOpWithNewOp<InsertSliceOp>(op, op.getType(), op.getB(), source, ValueRange(),
                                               rewriter.getI64IntegerAttr(axis), bounds, rewriter.getI64IntegerAttr(1));
  }

  /// What stands at the position. A row that was repeated is there already.
  static Value rowFrom(SelectOp op, Value x, int64_t axis, DenseI64ArrayAttr bounds, PatternRewriter &rewriter) {
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[axis] = 1;
    auto rowType = RankedTensorType::get(sizes, type.getElementType());
    if (auto expand = x.getDefiningOp<ExpandOp>(); expand && expand.getX().getType() == rowType)
      return expand.getX();
    return rewriter.create<SliceOp>(op.getLoc(), rowType, x, ValueRange(), rewriter.getI64IntegerAttr(axis), bounds,
                                    rewriter.getI64IntegerAttr(1));
  }
};

struct FoldSelectRowPass : impl::FoldSelectRowPassBase<FoldSelectRowPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldSelectRow>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
