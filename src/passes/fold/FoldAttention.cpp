#include "dialect/InferShape.h"
#include "passes/Passes.h"

#include <mlir/IR/Matchers.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

#include <cmath>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDATTENTIONPASS
#include "passes/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The value of a constant with one number; nullopt for all others.
std::optional<double> numberOf(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

/// A term that is added to the scores.
struct Mask {
  Value value;
  RankedTensorType scores; ///< as they were when it was added, if their first two dimensions were one before and after
};

/// softmax's operand, taken apart from the end: (q kᵀ) * scale + masks.
struct Scores {
  MatmulOp product;
  double scale = 1;
  SmallVector<Mask> masks;
};

bool isPlain(MatmulOp op) { return !op.getBias() && !op.getResidual() && op.getActivation() == Activation::None; }

/// Whether the second merges the first two dimensions of the first.
bool mergesTwo(RankedTensorType from, RankedTensorType to) {
  return from.hasStaticShape() && to.hasStaticShape() && from.getRank() == to.getRank() + 1 &&
         from.getShape().drop_front(2) == to.getShape().drop_front();
}

/// The mask; one for scores [d0, d1, ...] as one for [d0 * d1, ...].
Value withMergedBatch(const Mask &given, PatternRewriter &rewriter) {
  Value mask = given.value;
  RankedTensorType type = typeOf(mask), scores = given.scores;
  if (!scores)
    return mask;
  SmallVector<int64_t> sizes(type.getShape());
  sizes[0] = scores.getDimSize(0);
  sizes[1] = scores.getDimSize(1);
  Location loc = mask.getLoc();
  if (type.getShape() != ArrayRef<int64_t>(sizes))
    mask = rewriter.create<ExpandOp>(loc, RankedTensorType::get(sizes, type.getElementType()), mask, ValueRange(),
                                     rewriter.getDenseI64ArrayAttr(sizes));
  sizes[1] *= sizes[0];
  sizes.erase(sizes.begin());
  return rewriter.create<ReshapeOp>(loc, RankedTensorType::get(sizes, type.getElementType()), mask, ValueRange(),
                                    rewriter.getDenseI64ArrayAttr(sizes));
}

/// reshape(reshape(scores) + mask): goes on with the scores.
bool peelReshape(Value &value, Scores &scores, ReshapeOp outer) {
  auto sum = outer.getX().getDefiningOp<AddOp>();
  if (!sum || !sum->hasOneUse())
    return false;
  for (auto [inside, mask] : {std::pair(sum.getA(), sum.getB()), std::pair(sum.getB(), sum.getA())}) {
    auto inner = inside.getDefiningOp<ReshapeOp>();
    if (!inner || !inner->hasOneUse() || inner.getX().getType() != outer.getType() ||
        !mergesTwo(typeOf(inside), typeOf(outer)) || sum.getType() != inside.getType() ||
        !typeOf(mask).hasStaticShape() || typeOf(mask).getRank() != typeOf(inside).getRank())
      continue;
    scores.masks.push_back({mask, typeOf(inside)});
    value = inner.getX();
    return true;
  }
  return false;
}

/// The side that has the sum's own shape and a single use leads to the product.
bool peelSum(Value &value, Scores &scores, AddOp sum) {
  for (auto [inside, mask] : {std::pair(sum.getA(), sum.getB()), std::pair(sum.getB(), sum.getA())})
    if (inside.getType() == sum.getType() && inside.hasOneUse() &&
        isa_and_nonnull<MatmulOp, MulOp, DivOp, AddOp, ReshapeOp>(inside.getDefiningOp())) {
      scores.masks.push_back({mask, {}});
      value = inside;
      return true;
    }
  return false;
}

/// One step towards the product; false where there is none.
bool peel(Value &value, Scores &scores) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasOneUse())
    return false;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return peelReshape(value, scores, reshape);
  if (auto sum = dyn_cast<AddOp>(op))
    return peelSum(value, scores, sum);
  auto scaled = [&](Value inside, std::optional<double> factor) {
    if (!factor || inside.getType() != value.getType() || !std::isfinite(*factor))
      return false;
    scores.scale *= *factor;
    value = inside;
    return true;
  };
  if (auto product = dyn_cast<MulOp>(op))
    return scaled(product.getA(), numberOf(product.getB())) || scaled(product.getB(), numberOf(product.getA()));
  if (auto quotient = dyn_cast<DivOp>(op))
    if (std::optional<double> divisor = numberOf(quotient.getB()); divisor && *divisor != 0)
      return scaled(quotient.getA(), 1 / *divisor);
  return false;
}

std::optional<Scores> scoresOf(Value value) {
  Scores scores;
  for (;;) {
    if (auto product = value.getDefiningOp<MatmulOp>(); product && product->hasOneUse() && isPlain(product)) {
      scores.product = product;
      return scores;
    }
    const size_t masks = scores.masks.size();
    // A factor outside of a mask would multiply the mask, too.
    if (!peel(value, scores) || (scores.masks.size() != masks && scores.scale != 1))
      return std::nullopt;
  }
}

/// Leading sizes are the same, so that heads are heads.
bool haveSameBatch(RankedTensorType a, RankedTensorType b) {
  return a.getRank() == b.getRank() && a.getRank() >= 3 && a.getShape().drop_back(2) == b.getShape().drop_back(2);
}

struct FoldAttention : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto softmax = op.getA().getDefiningOp<SoftmaxOp>();
    RankedTensorType type = typeOf(op);
    if (!softmax || !softmax->hasOneUse() || softmax.getLog() || !type.getElementType().isF32() || !isPlain(op))
      return rewriter.notifyMatchFailure(op, "no weights of f32");
    const int64_t rank = typeOf(softmax).getRank();
    if (static_cast<int64_t>(softmax.getAxis()) != rank - 1)
      return rewriter.notifyMatchFailure(op, "weights along another dimension");
    std::optional<Scores> scores = scoresOf(softmax.getX());
    if (!scores)
      return rewriter.notifyMatchFailure(op, "no scores");
    Value q = scores->product.getA(), keys = scores->product.getB();
    if (!haveSameBatch(typeOf(q), typeOf(keys)) || !haveSameBatch(typeOf(q), typeOf(op.getB())))
      return rewriter.notifyMatchFailure(op, "heads that are shared");
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(dims[rank - 1], dims[rank - 2]);
    SmallVector<int64_t> sizes(typeOf(keys).getShape());
    std::swap(sizes[rank - 1], sizes[rank - 2]);
    Value k = rewriter.create<PermuteOp>(op.getLoc(), RankedTensorType::get(sizes, type.getElementType()), keys,
                                         rewriter.getDenseI64ArrayAttr(dims));
    Value mask;
    for (const Mask &given : llvm::reverse(scores->masks)) {
      Value next = withMergedBatch(given, rewriter);
      mask = mask ? sumOf(mask, next, rewriter) : next;
    }
    rewriter.replaceOpWithNewOp<AttentionOp>(op, type, q, k, op.getB(), mask, APFloat(scores->scale), false, true);
    return success();
  }

  static Value sumOf(Value a, Value b, PatternRewriter &rewriter) {
    return rewriter.create<AddOp>(b.getLoc(), elementwiseType({a.getType(), b.getType()}), a, b);
  }
};

struct FoldAttentionPass : impl::FoldAttentionPassBase<FoldAttentionPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldAttention>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
