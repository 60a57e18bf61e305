#include "dialect/InferShape.h"
#include "passes/fuse/Passes.h"

#include <mlir/IR/PatternMatch.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_EXPANDNORMSPASS
#include "passes/fuse/Passes.h.inc"

namespace {

/// Builds primitives on tensors of one floating-point type.
class Primitives {
public:
  Primitives(PatternRewriter &rewriter, Location loc) : rewriter(rewriter), loc(loc) {}

  template <typename Op> Value apply(Value x) { return rewriter.create<Op>(loc, x.getType(), x); }
  template <typename Op> Value apply(Value a, Value b) {
    return rewriter.create<Op>(loc, elementwiseType({a.getType(), b.getType()}), a, b);
  }
  template <typename Op> Value compare(Value a, Value b) {
    return rewriter.create<Op>(loc, elementwiseType({a.getType(), b.getType()}, rewriter.getI1Type()), a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return rewriter.create<SelectOp>(loc, elementwiseType({condition.getType(), a.getType(), b.getType()}), condition,
                                     a, b);
  }
  Value cast(Value x, Type element) {
    auto type = mlir::cast<RankedTensorType>(x.getType());
    if (type.getElementType() == element)
      return x;
    return rewriter.create<CastOp>(loc, withElement(type, element), x);
  }
  Value reduce(Value x, ReduceKind kind, int64_t rank) {
    auto type = mlir::cast<RankedTensorType>(x.getType());
    auto dims = llvm::to_vector(llvm::seq(type.getRank() - rank, type.getRank()));
    return rewriter.create<ReduceOp>(loc, reduceType(type, dims), x, kind, dims);
  }
  /// A constant in the element type of `like`.
  Value scalar(double value, Value like) {
    auto type = RankedTensorType::get({}, mlir::cast<RankedTensorType>(like.getType()).getElementType());
    auto attribute = DenseElementsAttr::get(type, rewriter.getFloatAttr(type.getElementType(), value));
    return rewriter.create<ConstantOp>(loc, type, attribute);
  }
  Value reshape(Value x, ArrayRef<int64_t> sizes) {
    auto type = mlir::cast<RankedTensorType>(x.getType());
    if (type.getShape() == sizes)
      return x;
    return rewriter.create<ReshapeOp>(loc, withShape(type, sizes), x, ValueRange(), sizes);
  }

private:
  PatternRewriter &rewriter;
  Location loc;
};

/// The element type in which PyTorch computes norms of `element`; null if clusters do not hold it.
Type computeType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  return element.isF32() || element.isF64() ? element : Type();
}

/// The number of elements in the last `rank` dimensions; nullopt when it is not known, or when it is 1 and the
/// reductions would have nothing to do.
std::optional<int64_t> rowLength(RankedTensorType type, int64_t rank) {
  int64_t length = elementCount(type.getShape().take_back(rank));
  if (ShapedType::isDynamic(length) || length <= 1)
    return std::nullopt;
  return length;
}

/// exp(x) of weights, the largest of which is 1: 0 instead of subnormal numbers, which CPUs compute a hundred times
/// slower, and which masks make many of. NaN stays.
Value powersOrZero(Primitives &make, Value x) {
  Value smallest = make.scalar(mlir::cast<RankedTensorType>(x.getType()).getElementType().isF64() ? -708.0 : -87.0, x);
  Value powers = make.apply<ExpOp>(make.apply<MaximumOp>(x, smallest));
  return make.select(make.compare<LtOp>(x, smallest), make.scalar(0, x), powers);
}

struct ExpandSoftmax : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern<SoftmaxOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getX().getType();
    std::optional<int64_t> axis = normalizeAxis(op.getAxis(), type.getRank());
    Type element = computeType(type.getElementType());
    if (!element || axis != type.getRank() - 1)
      return rewriter.notifyMatchFailure(op, "not floating point over the last dimension");
    if (int64_t size = type.getShape().back(); size == 0 || size == 1)
      return rewriter.notifyMatchFailure(op, "the reductions would have nothing to do");
    if (type != op.getType())
      return rewriter.notifyMatchFailure(op, "the result's sizes are known, the operand's are not");
    Primitives make(rewriter, op.getLoc());
    Value x = make.cast(op.getX(), element);
    Value shifted = make.apply<SubOp>(x, make.reduce(x, ReduceKind::Max, 1));
    Value powers = op.getLog() ? make.apply<ExpOp>(shifted) : powersOrZero(make, shifted);
    Value sum = make.reduce(powers, ReduceKind::Sum, 1);
    // One division a row instead of one an element; the difference is at most one unit in the last place.
    Value result = op.getLog() ? make.apply<SubOp>(shifted, make.apply<LogOp>(sum))
                               : make.apply<MulOp>(powers, make.apply<ReciprocalOp>(sum));
    rewriter.replaceOp(op, make.cast(result, type.getElementType()));
    return success();
  }
};

/// (x - mean) / sqrt(var + eps) over the last `rank` dimensions, of `length` elements. The variance is computed from
/// the differences, not from squares of x, which would cancel.
Value normalise(Primitives &make, Value x, int64_t rank, int64_t length, double eps, bool rms) {
  Value count = make.scalar(static_cast<double>(length), x);
  Value centred = x;
  if (!rms)
    centred = make.apply<SubOp>(x, make.apply<DivOp>(make.reduce(x, ReduceKind::Sum, rank), count));
  Value squares = make.reduce(make.apply<MulOp>(centred, centred), ReduceKind::Sum, rank);
  Value variance = make.apply<DivOp>(squares, count);
  Value scale = make.apply<RsqrtOp>(make.apply<AddOp>(variance, make.scalar(eps, x)));
  return make.apply<MulOp>(centred, scale);
}

struct ExpandLayerNorm : OpRewritePattern<LayerNormOp> {
  using OpRewritePattern<LayerNormOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(LayerNormOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getX().getType();
    auto rank = static_cast<int64_t>(op.getRank());
    Type element = computeType(type.getElementType());
    std::optional<int64_t> length = rowLength(type, rank);
    if (!element || !length)
      return rewriter.notifyMatchFailure(op, "not floating point over known sizes");
    if (type != op.getType())
      return rewriter.notifyMatchFailure(op, "the result's sizes are known, the operand's are not");
    Primitives make(rewriter, op.getLoc());
    Value x = make.cast(op.getX(), element);
    Value result = normalise(make, x, rank, *length, op.getEps().convertToDouble(), op.getRms());
    if (op.getWeight())
      result = make.apply<MulOp>(result, make.cast(op.getWeight(), element));
    if (op.getBias())
      result = make.apply<AddOp>(result, make.cast(op.getBias(), element));
    rewriter.replaceOp(op, make.cast(result, type.getElementType()));
    return success();
  }
};

/// From here on tensors are images, which mostly lie channels-last: their kernel takes them so, and rows would be a copy.
constexpr int64_t kImageRank = 4;

/// x [N, C, ...] is normalised as [N, groups, C / groups * ...]; the scale and shift are per channel of [N, C, ...].
struct ExpandGroupNorm : OpRewritePattern<GroupNormOp> {
  using OpRewritePattern<GroupNormOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(GroupNormOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getX().getType();
    Type element = computeType(type.getElementType());
    auto groups = static_cast<int64_t>(op.getGroups());
    if (!element || !type.hasStaticShape() || type.getRank() < 2 || groups < 1 || type.getDimSize(1) % groups != 0)
      return rewriter.notifyMatchFailure(op, "not floating point over known sizes");
    int64_t length = elementCount(type.getShape().drop_front()) / groups;
    if (length <= 1 || type.getDimSize(0) == 0 || type.getRank() >= kImageRank)
      return rewriter.notifyMatchFailure(op, "groups of one element, or an image");
    Primitives make(rewriter, op.getLoc());
    Value x = make.reshape(op.getX(), {type.getDimSize(0), groups, length});
    Value grouped = normalise(make, make.cast(x, element), 1, length, op.getEps().convertToDouble(), false);
    Value result = make.reshape(grouped, type.getShape());
    llvm::SmallVector<int64_t> channels(type.getRank() - 1, 1);
    channels[0] = type.getDimSize(1);
    if (op.getWeight())
      result = make.apply<MulOp>(result, make.reshape(make.cast(op.getWeight(), element), channels));
    if (op.getBias())
      result = make.apply<AddOp>(result, make.reshape(make.cast(op.getBias(), element), channels));
    rewriter.replaceOp(op, make.cast(result, type.getElementType()));
    return success();
  }
};

struct ExpandNormsPass : impl::ExpandNormsPassBase<ExpandNormsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandSoftmax, ExpandLayerNorm, ExpandGroupNorm>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

} // namespace ingot
