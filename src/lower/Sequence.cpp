// Connectionist classification and bags of words.
#include "dialect/SequenceOps.h"
#include "dialect/WindowOps.h"
#include "lower/Loss.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// A list of integers, or a tensor of them.
Value lengths(LowerContext &ctx, StringRef name) {
  if (ctx.op.getTarget().ends_with(".Tensor"))
    return ctx.cast(ctx.flatten(ctx.tensor(name)), ctx.i64());
  SmallVector<int64_t> list = ctx.integers(name);
  auto type = RankedTensorType::get({static_cast<int64_t>(list.size())}, ctx.i64());
  DenseElementsAttr values = DenseElementsAttr::get(type, ArrayRef<int64_t>(list));
  return ctx.create<ConstantOp>(type, values).getResult();
}

struct Ctc {
  Value losses, targetLengths; ///< [N]
  bool isBatched = true;
};

/// Nullopt after refusing.
std::optional<Ctc> ctcLosses(LowerContext &ctx) {
  Value probs = ctx.tensor("log_probs"), targets = ctx.tensor("targets");
  if ((rankOf(probs) != 3 && rankOf(probs) != 2) || rankOf(targets) < 1 || rankOf(targets) > 2 ||
      !isFloat(dtypeOf(probs)) || !isIntegral(dtypeOf(targets))) {
    (void)ctx.refuse("needs log probabilities [T, N, C] and labels");
    return std::nullopt;
  }
  Ctc result;
  result.isBatched = rankOf(probs) == 3;
  if (!result.isBatched)
    probs = ctx.insertDim(probs, 1);
  Value inputLengths = lengths(ctx, "input_lengths");
  result.targetLengths = lengths(ctx, "target_lengths");
  auto type = withShape(tensorType(probs), shapeOf(probs).slice(1, 1));
  Value losses = ctx.create<CtcLossOp>(type, probs, ctx.cast(targets, ctx.i64()), inputLengths, result.targetLengths,
                                       ctx.integer("blank"))
                     .getResult();
  if (ctx.flag("zero_infinity")) {
    Value isInfinite = ctx.test<IsinfOp>(losses);
    losses = ctx.select(isInfinite, ctx.constant(0, dtypeOf(losses)), losses);
  }
  result.losses = losses;
  return result;
}

} // namespace

LogicalResult lowerCtcLoss(LowerContext &ctx) {
  std::optional<Ctc> ctc = ctcLosses(ctx);
  if (!ctc)
    return failure(); // ctcLosses said why
  Type dtype = dtypeOf(ctc->losses);
  Value losses = ctc->losses;
  if (ctx.integer("reduction") == kMeanReduction) {
    Value labels = ctx.binary<MaximumOp>(ctc->targetLengths, 1);
    losses = ctx.binary<DivOp>(losses, ctx.cast(labels, dtype));
  }
  if (!ctc->isBatched && ctx.integer("reduction") == kNoReduction)
    return ctx.replace(ctx.reshape(losses, {}));
  return ctx.replace(reduceLoss(ctx, losses, dtype));
}

/// The other result is for training.
LogicalResult lowerCtcLosses(LowerContext &ctx) {
  std::optional<Ctc> ctc = ctcLosses(ctx);
  if (!ctc)
    return failure(); // ctcLosses said why
  Value losses = ctc->isBatched ? ctc->losses : ctx.reshape(ctc->losses, {});
  return ctx.replace({losses, Value()});
}

/// Rows of the table that are named, and longer than `max_norm`, are shortened to it.
LogicalResult lowerEmbeddingRenorm(LowerContext &ctx) {
  Value table = ctx.tensor("self"), indices = ctx.flatten(ctx.tensor("indices"));
  if (rankOf(table) != 2 || !isFloat(dtypeOf(table)))
    return ctx.refuse("needs a table of rows");
  Type compute = computeType(dtypeOf(table));
  Value wide = ctx.cast(table, compute), size = ctx.unary<AbsOp>(wide);
  double p = ctx.real("norm_type"), limit = ctx.real("max_norm");
  Value norms;
  if (std::isinf(p))
    norms = ctx.reduce(ReduceKind::Max, size, {1});
  else
    norms = ctx.binary<PowOp>(ctx.reduce(ReduceKind::Sum, ctx.binary<PowOp>(size, p), {1}), 1 / p);
  Size count = ctx.dim(indices, 0), rows = ctx.dim(table, 0);
  Value ones = ctx.full(Number::of(1.0), {Size(1), count}, ctx.f32());
  Value places = ctx.reshape(ctx.cast(indices, ctx.i64()), {Size(1), count});
  SmallVector<Value> dynamic;
  if (!rows.isStatic())
    dynamic.push_back(rows.dynamic);
  auto type = RankedTensorType::get({1, rows.entry()}, ctx.f32());
  Value named = ctx.create<PlaneScatterOp>(type, ones, places, dynamic, rows.entry(), false).getResult();
  Value isLong = ctx.compare<GtOp>(norms, limit);
  isLong = ctx.binary<BitwiseAndOp>(isLong, ctx.cast(ctx.reshape(named, {rows, Size(1)}), ctx.i1()));
  Value factor = ctx.binary<DivOp>(ctx.constant(limit, compute), ctx.binary<AddOp>(norms, 1e-7));
  Value result = ctx.select(isLong, ctx.binary<MulOp>(wide, factor), wide);
  return ctx.replace(ctx.cast(result, dtypeOf(table)));
}

LogicalResult lowerEmbeddingBag(LowerContext &ctx) {
  static constexpr const char *kModes[] = {"sum", "mean", "max"};
  Value table = ctx.tensor("weight"), indices = ctx.tensor("indices"), offsets = ctx.tensor("offsets");
  Value weights = ctx.optionalTensor("per_sample_weights");
  int64_t mode = ctx.integer("mode");
  if (rankOf(table) != 2 || rankOf(indices) != 1 || rankOf(offsets) != 1 || mode < 0 || mode > 2)
    return ctx.refuse("needs a table of rows, lists of indices and offsets, and a known mode");
  bool includeLast = ctx.flag("include_last_offset");
  int64_t padding = ctx.has("padding_idx") && !ctx.isNone("padding_idx") ? ctx.integer("padding_idx") : -1;
  if (padding < -1 || (padding == -1 && ctx.op.getTarget().ends_with(".padding_idx") && !ctx.isNone("padding_idx"))) {
    if (tensorType(table).isDynamicDim(0))
      return ctx.refuse("the size of the table must be known here");
    padding += shapeOf(table)[0];
  }
  Size bags = ctx.minus(ctx.dim(offsets, 0), includeLast ? 1 : 0);
  auto type = withShape(tensorType(table), {bags.entry(), shapeOf(table)[1]});
  auto counts = RankedTensorType::get({bags.entry()}, ctx.i64());
  if (weights)
    weights = ctx.cast(weights, dtypeOf(table));
  auto bag =
      ctx.create<EmbeddingBagOp>(type, counts, table, indices, offsets, weights, kModes[mode], includeLast, padding);
  return ctx.replace({bag.getResult(), Value(), Value(), Value()});
}

} // namespace ingot::lower
