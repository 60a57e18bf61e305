// Tensors put side by side, and brought to a common rank or shape.
#include "lower/Join.h"
#include "lower/Pick.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// NumPy's rules: vectors are rows, and in three dimensions lie along the second.
Value atLeast(LowerContext &ctx, Value x, int64_t rank) {
  if (rankOf(x) == 0)
    x = ctx.reshape(x, {Size(1)});
  if (rank >= 2 && rankOf(x) == 1)
    x = ctx.insertDim(x, 0);
  if (rank >= 3 && rankOf(x) == 2)
    x = ctx.insertDim(x, 2);
  return x;
}

LogicalResult replaceAtLeast(LowerContext &ctx, int64_t rank) {
  if (!ctx.has("tensors"))
    return ctx.replace(atLeast(ctx, ctx.tensor("self"), rank));
  SmallVector<Value> values = ctx.tensors("tensors");
  for (Value &value : values)
    value = atLeast(ctx, value, rank);
  return ctx.replace(values);
}

/// The tensors in the result's type, joined along `axis`.
LogicalResult join(LowerContext &ctx, SmallVector<Value> values, int64_t axis) {
  dropNothing(values);
  SmallVector<Value> cast;
  for (Value value : values) {
    if (rankOf(value) <= axis || rankOf(value) != rankOf(values.front()))
      return ctx.refuse("the tensors have different ranks");
    cast.push_back(ctx.cast(value, ctx.resultDtype()));
  }
  return cast.empty() ? ctx.refuse("there is no tensor to join") : ctx.replace(ctx.concat(cast, axis));
}

LogicalResult joinAtLeast(LowerContext &ctx, int64_t rank, int64_t axis) {
  SmallVector<Value> values = ctx.tensors("tensors");
  for (Value &value : values)
    value = atLeast(ctx, value, rank);
  return join(ctx, values, axis);
}

} // namespace

LogicalResult lowerAtLeast1d(LowerContext &ctx) { return replaceAtLeast(ctx, 1); }
LogicalResult lowerAtLeast2d(LowerContext &ctx) { return replaceAtLeast(ctx, 2); }
LogicalResult lowerAtLeast3d(LowerContext &ctx) { return replaceAtLeast(ctx, 3); }

LogicalResult lowerHstack(LowerContext &ctx) {
  SmallVector<Value> values = ctx.tensors("tensors");
  return joinAtLeast(ctx, 1, !values.empty() && rankOf(values.front()) <= 1 ? 0 : 1);
}

LogicalResult lowerVstack(LowerContext &ctx) { return joinAtLeast(ctx, 2, 0); }
LogicalResult lowerDstack(LowerContext &ctx) { return joinAtLeast(ctx, 3, 2); }

/// Vectors are columns here.
LogicalResult lowerColumnStack(LowerContext &ctx) {
  SmallVector<Value> values = ctx.tensors("tensors");
  for (Value &value : values)
    if (rankOf(value) <= 1)
      value = ctx.insertDim(atLeastVector(ctx, value), 1);
  return join(ctx, values, 1);
}

LogicalResult lowerBroadcastTensors(LowerContext &ctx) {
  SmallVector<Value> values = ctx.tensors("tensors");
  Sizes sizes = broadcastSizes(ctx, values);
  for (Value &value : values)
    value = ctx.expand(value, sizes);
  return ctx.replace(values);
}

/// Every combination of elements of the vectors, one row each; of a single vector, itself.
LogicalResult lowerCartesianProd(LowerContext &ctx) {
  SmallVector<Value> values = ctx.tensors("tensors");
  if (values.size() == 1)
    return ctx.replace(values.front());
  Sizes grid;
  for (Value value : values) {
    if (rankOf(value) != 1)
      return ctx.refuse("takes vectors");
    grid.push_back(ctx.dim(value, 0));
  }
  for (auto [i, value] : llvm::enumerate(values)) {
    Sizes shape(values.size(), Size(1));
    shape[i] = grid[i];
    value = ctx.flatten(ctx.expand(ctx.reshape(value, shape), grid));
    value = ctx.insertDim(value, 1);
  }
  return join(ctx, values, 1);
}

/// [a, b] and [c, d] make [a, 1, b, 1] * [c, 1, d], that is [a * c, b * d].
LogicalResult lowerKron(LowerContext &ctx) {
  Value a = ctx.tensor("self"), b = ctx.tensor("other");
  Type dtype = ctx.resultDtype();
  int64_t rank = std::max(rankOf(a), rankOf(b));
  while (rankOf(a) < rank)
    a = ctx.insertDim(a, 0);
  while (rankOf(b) < rank)
    b = ctx.insertDim(b, 0);
  Sizes left, right, merged;
  for (int64_t i = 0; i < rank; ++i) {
    left.append({ctx.dim(a, i), Size(1)});
    right.append({Size(1), ctx.dim(b, i)});
    merged.push_back(ctx.times(ctx.dim(a, i), ctx.dim(b, i)));
  }
  Value outer = ctx.reshape(ctx.cast(a, dtype), left), inner = ctx.reshape(ctx.cast(b, dtype), right);
  return ctx.replace(ctx.reshape(ctx.binary<MulOp>(outer, inner), merged));
}

/// Every tensor is cut in `num_chunks` along `dim`, padded with zeros to be even, and its pieces lie flat in a row.
LogicalResult lowerChunkCat(LowerContext &ctx) {
  SmallVector<Value> values = ctx.tensors("tensors");
  int64_t chunks = ctx.integer("num_chunks");
  for (Value &value : values) {
    int64_t axis = ctx.axis("dim", rankOf(value));
    if (!tensorType(value).hasStaticShape() || chunks <= 0 || rankOf(value) == 0)
      return ctx.refuse("sizes must be known here");
    SmallVector<int64_t> shape(shapeOf(value));
    int64_t chunk = (shape[axis] + chunks - 1) / chunks;
    Sizes padding = ctx.sizes(value), sizes(padding.begin(), padding.begin() + axis);
    padding[axis] = chunk * chunks - shape[axis];
    value = ctx.cast(value, ctx.resultDtype());
    if (!padding[axis].is(0))
      value = ctx.concat({value, ctx.full(Number::of(int64_t{0}), padding, dtypeOf(value))}, axis);
    for (int64_t i = axis + 1; i < rankOf(value); ++i)
      chunk *= shape[i];
    sizes.append({Size(chunks), Size(chunk)});
    value = ctx.reshape(value, sizes);
  }
  return values.empty() ? ctx.refuse("there is no tensor to join")
                        : ctx.replace(ctx.concat(values, rankOf(values.front()) - 1));
}

} // namespace ingot::lower
