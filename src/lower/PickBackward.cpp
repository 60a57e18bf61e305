// Gradients of operators that pick elements: zeros, with what comes back written or added where it was picked.
#include "dialect/ScatterOps.h"
#include "lower/Pick.h"

using namespace mlir;

namespace ingot::lower {

namespace {

Value zeros(LowerContext &ctx, StringRef sizes) {
  return ctx.full(Number::of(int64_t{0}), ctx.sizeList(sizes), ctx.resultDtype());
}

/// `grad` added to zeros of the given sizes, at positions along one dimension.
LogicalResult addAlong(LowerContext &ctx, Value grad, StringRef sizes, Value index) {
  Value base = zeros(ctx, sizes);
  int64_t axis = ctx.axis("dim", rankOf(base));
  Value vector = atLeastVector(ctx, base), positions = atLeastVector(ctx, ctx.cast(index, ctx.i64()));
  Value source = atLeastVector(ctx, ctx.cast(grad, dtypeOf(base)));
  if (rankOf(positions) != rankOf(vector) || rankOf(source) != rankOf(vector))
    return ctx.refuse("gradient, positions and sizes must have one rank");
  Value result = ctx.create<ScatterOp>(vector.getType(), vector, positions, source, axis, "add", true).getResult();
  return ctx.replace(ctx.reshape(result, ctx.sizes(base)));
}

} // namespace

LogicalResult lowerSelectBackward(LowerContext &ctx) {
  Value base = zeros(ctx, "input_sizes");
  if (rankOf(base) == 0)
    return ctx.refuse("a zero-dimensional tensor has nothing to select");
  int64_t axis = ctx.axis("dim", rankOf(base));
  Size index = ctx.size("index"), size = ctx.dim(base, axis);
  if (!index.isStatic() || index.literal < 0)
    index = index.isStatic() ? ctx.plus(index, size) : ctx.clampPosition(index, size);
  Value source = ctx.insertDim(ctx.tensor("grad_output"), axis);
  return ctx.replace(ctx.insertSlice(base, source, axis, index, ctx.plus(index, 1)));
}

LogicalResult lowerSliceBackward(LowerContext &ctx) {
  Value base = zeros(ctx, "input_sizes");
  if (rankOf(base) == 0)
    return ctx.refuse("a zero-dimensional tensor cannot be sliced");
  int64_t axis = ctx.axis("dim", rankOf(base));
  Size size = ctx.dim(base, axis), start = ctx.clampPosition(ctx.size("start"), size);
  Size end = ctx.larger(start, ctx.clampPosition(ctx.size("end"), size));
  return ctx.replace(ctx.insertSlice(base, ctx.tensor("grad_output"), axis, start, end, ctx.integer("step")));
}

LogicalResult lowerIndexSelectBackward(LowerContext &ctx) {
  Value base = zeros(ctx, "self_sizes");
  if (rankOf(base) == 0)
    return ctx.replace(ctx.reshape(ctx.tensor("grad"), {}));
  int64_t axis = ctx.axis("dim", rankOf(base));
  Value index = ctx.cast(ctx.flatten(ctx.tensor("index")), ctx.i64());
  Value result = put(ctx, {base, {index}, {axis}, axisRange(0, rankOf(base))}, ctx.tensor("grad"), "add");
  return result ? ctx.replace(result) : failure();
}

LogicalResult lowerGatherBackward(LowerContext &ctx) {
  Value x = ctx.tensor("self"), index = ctx.cast(ctx.tensor("index"), ctx.i64()), grad = ctx.tensor("grad");
  Value base = ctx.full(Number::of(int64_t{0}), ctx.sizes(x), dtypeOf(grad));
  int64_t axis = ctx.axis("dim", rankOf(x));
  if (rankOf(x) == 0 || rankOf(index) != rankOf(x))
    return ctx.refuse("operand and index must have one rank, at least 1");
  return ctx.replace(ctx.create<ScatterOp>(base.getType(), base, index, grad, axis, "add", true).getResult());
}

/// Of max, min, median … along a dimension, which may have gone away.
LogicalResult lowerValueBackward(LowerContext &ctx) {
  Value grad = ctx.tensor("grad"), index = ctx.tensor("indices");
  auto rank = static_cast<int64_t>(ctx.sizeList("sizes").size());
  if (!ctx.flag("keepdim") && rank > 0) {
    int64_t axis = ctx.axis("dim", rank);
    grad = ctx.insertDim(grad, axis);
    index = ctx.insertDim(index, axis);
  }
  return addAlong(ctx, grad, "sizes", index);
}

//===------------------------------------------------------------------------------------------===//
// Diagonals and windows
//===------------------------------------------------------------------------------------------===//

/// The last dimension of the gradient goes to a diagonal.
LogicalResult lowerDiagonalBackward(LowerContext &ctx) {
  Value base = zeros(ctx, "input_sizes");
  int64_t rank = rankOf(base), offset = ctx.integer("offset");
  int64_t dim1 = ctx.axis("dim1", rank), dim2 = ctx.axis("dim2", rank);
  if (rank < 2 || dim1 == dim2)
    return ctx.refuse("a diagonal needs two different dimensions");
  Value grad = ctx.tensor("grad_output");
  Size length = ctx.dim(grad, rankOf(grad) - 1);
  Number one = Number::of(int64_t{1});
  Value rows = ctx.iota(Number::of(std::max<int64_t>(0, -offset)), one, length, ctx.i64());
  Value columns = ctx.iota(Number::of(std::max<int64_t>(0, offset)), one, length, ctx.i64());
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim1 && i != dim2)
      order.push_back(i);
  order.append({dim1, dim2});
  Value result = put(ctx, {ctx.permute(base, order), {rows, columns}, {rank - 2, rank - 1}, order}, grad, "none");
  return result ? ctx.replace(result) : failure();
}

LogicalResult lowerTraceBackward(LowerContext &ctx) {
  Sizes sizes = ctx.sizeList("sizes");
  if (sizes.size() != 2)
    return ctx.refuse("a trace is of a matrix");
  Value row = ctx.reshape(ctx.iota(sizes[0]), {sizes[0], Size(1)});
  Value isDiagonal = ctx.compare<EqOp>(ctx.iota(sizes[1]), row);
  return ctx.replace(ctx.select(isDiagonal, ctx.tensor("grad"), ctx.constant(0, ctx.resultDtype())));
}

/// Every window's elements are added where they came from.
LogicalResult lowerUnfoldBackward(LowerContext &ctx) {
  Value base = zeros(ctx, "input_sizes"), grad = ctx.tensor("grad_in");
  int64_t rank = rankOf(base);
  if (rank == 0 || rankOf(grad) != rank + 1)
    return ctx.refuse("the gradient must have one dimension more than the tensor");
  int64_t axis = ctx.axis("dim", rank);
  Size count = ctx.dim(grad, axis), size = ctx.dim(grad, rank);
  Value starts = ctx.iota(Number::of(int64_t{0}), Number::of(ctx.integer("step")), count, ctx.i64());
  Value positions = ctx.binary<AddOp>(ctx.reshape(starts, {count, Size(1)}), ctx.iota(size));
  SmallVector<int64_t> order = axisRange(0, rank + 1); // the window's dimension comes after its axis
  order.pop_back();
  order.insert(order.begin() + axis + 1, rank);
  Value result = put(ctx, {base, {positions}, {axis}, axisRange(0, rank)}, ctx.permute(grad, order), "add");
  return result ? ctx.replace(result) : failure();
}

} // namespace ingot::lower
