// Scaled dot-product attention.
#include "lower/AttentionDropout.h"

#include <cmath>

using namespace mlir;

namespace ingot::lower {

namespace {

/// Leading dimensions of both, broadcast; the heads of k and v may be fewer (grouped) and stay.
Value broadcastBatch(LowerContext &ctx, Value x, Value like) {
  int64_t rank = rankOf(like);
  while (rankOf(x) < rank)
    x = ctx.insertDim(x, 0);
  Sizes sizes = ctx.sizes(x);
  bool isChanged = false;
  for (int64_t i = 0; i < rank - 3; ++i) {
    if (shapeOf(x)[i] != 1 || shapeOf(like)[i] == 1)
      continue;
    sizes[i] = ctx.dim(like, i);
    isChanged = true;
  }
  return isChanged ? ctx.expand(x, sizes) : x;
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
  bool isMatrix = rankOf(q) == 2;
  if (isMatrix)
    q = ctx.insertDim(q, 0);
  k = broadcastBatch(ctx, k, q);
  v = broadcastBatch(ctx, v, q);
  q = broadcastBatch(ctx, q, k);
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

LogicalResult lowerAttention(LowerContext &ctx) {
  Value result = attention(ctx);
  if (!result)
    return failure(); // attention said why
  // The other results (log-sum-exp, weights) are for training.
  SmallVector<Value> results(ctx.numResults());
  results.front() = result;
  return ctx.replace(results);
}

} // namespace ingot::lower
