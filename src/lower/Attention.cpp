// Scaled dot-product attention.
#include "lower/AttentionDropout.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace ingot::lower {

namespace {

/// `x` with the size of `like` in a dimension where its own is 1.
void expandAs(LowerContext &ctx, Value &x, Value like, int64_t dim) {
  if (shapeOf(x)[dim] != 1 || shapeOf(like)[dim] == 1)
    return;
  Sizes sizes = ctx.sizes(x);
  sizes[dim] = ctx.dim(like, dim);
  x = ctx.expand(x, sizes);
}

/// Brings all to one rank, and leading dimensions to the same sizes. The heads of k and v together may be fewer than q's (grouped).
void broadcastHeads(LowerContext &ctx, Value &q, Value &k, Value &v) {
  const int64_t rank = std::max({rankOf(q), rankOf(k), rankOf(v), int64_t{3}}), heads = rank - 3;
  for (Value *x : {&q, &k, &v})
    while (rankOf(*x) < rank)
      *x = ctx.insertDim(*x, 0);
  for (int64_t dim = 0; dim <= heads; ++dim) {
    expandAs(ctx, k, v, dim);
    expandAs(ctx, v, k, dim);
    expandAs(ctx, q, k, dim);
    if (dim == heads)
      break;
    expandAs(ctx, k, q, dim);
    expandAs(ctx, v, q, dim);
  }
}

/// Null after refusing.
Value attention(LowerContext &ctx) {
  Value q = ctx.tensor("query"), k = ctx.tensor("key"), v = ctx.tensor("value");
  if (rankOf(q) < 2 || rankOf(k) < 2 || rankOf(v) < 2 || tensorType(q).isDynamicDim(rankOf(q) - 1)) {
    (void)ctx.refuse("query, key and value need two dimensions, and a known last one");
    return {};
  }
  double width = static_cast<double>(shapeOf(q).back());
  double scale = ctx.optionalReal("scale").value_or(1 / std::sqrt(width));
  bool isMatrix = rankOf(q) == 2 && rankOf(k) == 2 && rankOf(v) == 2;
  broadcastHeads(ctx, q, k, v);
  Value mask = ctx.optionalTensor("attn_mask");
  if (mask && !isBool(dtypeOf(mask)))
    mask = ctx.cast(mask, dtypeOf(q));
  RankedTensorType type = attentionType(tensorType(q), tensorType(v));
  if (!type) {
    (void)ctx.refuse("the shapes of query, key and value do not fit together");
    return {};
  }
  double dropout = ctx.real("dropout_p");
  bool isCausal = ctx.flag("is_causal");
  Value result = dropout != 0 ? attentionWithDropout(ctx, {q, k, v, mask, scale, dropout, isCausal})
                              : ctx.create<AttentionOp>(type, q, k, v, mask, APFloat(scale), isCausal).getResult();
  return isMatrix ? ctx.dropDims(result, {0}) : result;
}

} // namespace

namespace {

/// softmax's operand: q kᵀ * scale with the mask; null after refusing. Heads are not grouped here.
Value attentionScores(LowerContext &ctx) {
  Value q = ctx.tensor("query"), k = ctx.tensor("key"), mask = ctx.optionalTensor("attn_mask");
  int64_t rank = rankOf(q);
  if (rankOf(k) != rank || rank < 3 || !shapesAgree(shapeOf(q).drop_back(2), shapeOf(k).drop_back(2))) {
    (void)ctx.refuse("query and key of other results than the first must have the same heads");
    return {};
  }
  Type compute = computeType(dtypeOf(q));
  double scale = ctx.optionalReal("scale").value_or(1 / std::sqrt(static_cast<double>(shapeOf(q).back())));
  Value scores = ctx.matmul(ctx.cast(q, compute), ctx.transpose(ctx.cast(k, compute), rank - 2, rank - 1));
  scores = ctx.binary<MulOp>(scores, scale);
  Value never = ctx.constant(-std::numeric_limits<double>::infinity(), compute);
  if (ctx.flag("is_causal")) {
    Size rows = ctx.dim(scores, rank - 2), columns = ctx.dim(scores, rank - 1);
    Value isPast = ctx.compare<GeOp>(ctx.reshape(ctx.iota(rows), {rows, Size(1)}), ctx.iota(columns));
    scores = ctx.select(isPast, scores, never);
  }
  if (!mask)
    return scores;
  return isBool(dtypeOf(mask)) ? ctx.select(mask, scores, never) : ctx.binary<AddOp>(scores, ctx.cast(mask, compute));
}

/// log(sum(exp(scores))) of each row, or the weights themselves.
Value attentionExtra(LowerContext &ctx) {
  Value scores = attentionScores(ctx);
  if (!scores)
    return {}; // attentionScores said why
  int64_t last = rankOf(scores) - 1;
  if (ctx.op.getTarget().contains("_math"))
    return ctx.cast(ctx.softmax(scores, last, /*log=*/false), ctx.resultDtype(1));
  Value peak = ctx.reduce(ReduceKind::Max, scores, last);
  Value sum = ctx.reduce(ReduceKind::Sum, ctx.unary<ExpOp>(ctx.binary<SubOp>(scores, peak)), last);
  Value result = ctx.binary<AddOp>(ctx.unary<LogOp>(sum), peak);
  return ctx.cast(ctx.dropDims(result, last), ctx.resultDtype(1));
}

} // namespace

LogicalResult lowerAttention(LowerContext &ctx) {
  Value result = attention(ctx);
  if (!result)
    return failure(); // attention said why
  SmallVector<Value> results(ctx.numResults());
  results.front() = result;
  if (results.size() > 1 && ctx.isUsed(1)) {
    results[1] = attentionExtra(ctx);
    if (!results[1])
      return failure(); // attentionExtra said why
  }
  return ctx.replace(results);
}

} // namespace ingot::lower
