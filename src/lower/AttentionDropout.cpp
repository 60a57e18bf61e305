#include "lower/AttentionDropout.h"

#include "lower/Random.h"

#include <limits>

using namespace mlir;

namespace ingot::lower {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// As many heads as the queries have: each of the fewer ones serves several.
Value withHeads(LowerContext &ctx, Value x, Value like) {
  int64_t axis = rankOf(x) - 3;
  if (axis < 0 || shapeOf(x)[axis] == shapeOf(like)[axis])
    return x;
  Size heads = ctx.dim(x, axis), each = ctx.floorDiv(ctx.dim(like, axis), heads);
  Sizes sizes = ctx.sizes(x), wide = sizes;
  wide.insert(wide.begin() + axis + 1, each);
  sizes[axis] = ctx.times(heads, each);
  return ctx.reshape(ctx.expand(ctx.insertDim(x, axis + 1), wide), sizes);
}

/// Zero where `isKept`, minus infinity elsewhere.
Value asBias(LowerContext &ctx, Value isKept, Type dtype) {
  return ctx.select(isKept, ctx.constant(0, dtype), ctx.constant(-kInfinity, dtype));
}

} // namespace

Value attentionWithDropout(LowerContext &ctx, const AttentionParts &parts) {
  int64_t last = rankOf(parts.q) - 1;
  Type compute = computeType(dtypeOf(parts.q));
  Value k = withHeads(ctx, parts.k, parts.q), v = withHeads(ctx, parts.v, parts.q);
  Value q = ctx.binary<MulOp>(ctx.cast(parts.q, compute), parts.scale);
  Value scores = ctx.matmul(q, ctx.transpose(ctx.cast(k, compute), last - 1, last));
  if (parts.mask) {
    Value bias = isBool(dtypeOf(parts.mask)) ? asBias(ctx, parts.mask, compute) : ctx.cast(parts.mask, compute);
    scores = ctx.binary<AddOp>(scores, bias);
  }
  if (parts.isCausal) {
    Size rows = ctx.dim(scores, last - 1);
    Value row = ctx.reshape(ctx.iota(rows), {rows, Size(1)});
    Value isKept = ctx.compare<LeOp>(ctx.iota(ctx.dim(scores, last)), row);
    scores = ctx.binary<AddOp>(scores, asBias(ctx, isKept, compute));
  }
  Value weights = ctx.softmax(scores, last, false);
  // A row without anything kept is NaN there, and zeros in PyTorch.
  weights = ctx.select(ctx.test<IsnanOp>(weights), ctx.constant(0, compute), weights);
  weights = dropoutOf(ctx, weights, parts.dropout);
  return ctx.cast(ctx.matmul(weights, ctx.cast(v, compute)), dtypeOf(parts.q));
}

} // namespace ingot::lower
