// Picking by index tensors.
#include "dialect/ScatterOps.h"
#include "lower/Pick.h"

using namespace mlir;

namespace ingot::lower {

LogicalResult lowerEmbedding(LowerContext &ctx) {
  Value table = ctx.tensor("weight");
  if (rankOf(table) == 0)
    return ctx.refuse("the table has no rows");
  return ctx.replace(refusingNegative(ctx.indexSelect(table, ctx.tensor("indices"), 0)));
}

LogicalResult lowerIndexSelect(LowerContext &ctx) {
  Value x = ctx.tensor("self"), index = ctx.flatten(ctx.tensor("index"));
  if (rankOf(x) == 0) // the only element, once
    return ctx.replace(ctx.reshape(x, {}));
  return ctx.replace(refusingNegative(ctx.indexSelect(x, index, ctx.axis("dim", rankOf(x)))));
}

LogicalResult lowerGather(LowerContext &ctx) {
  Value x = ctx.tensor("self"), index = ctx.cast(ctx.tensor("index"), ctx.i64());
  if (llvm::is_contained(shapeOf(index), 0)) // nothing is picked, whatever the ranks are
    return ctx.replace(ctx.full(Number::of(int64_t{0}), ctx.sizes(index), dtypeOf(x)));
  Sizes wanted = ctx.sizes(index);
  int64_t axis = ctx.axis("dim", rankOf(x));
  x = atLeastVector(ctx, x);
  index = atLeastVector(ctx, index);
  if (rankOf(index) != rankOf(x))
    return ctx.refuse("operand and index must have one rank");
  auto type = withShape(tensorType(x), shapeOf(index));
  Value picked = refusingNegative(ctx.create<GatherOp>(type, x, index, axis).getResult());
  return ctx.replace(wanted.empty() ? ctx.reshape(picked, {}) : picked);
}

//===------------------------------------------------------------------------------------------===//
// x[:, i, None, j]
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerIndex(LowerContext &ctx) {
  std::optional<Picks> picks = collectPicks(ctx, ctx.tensor("self"), ctx.tensors("indices"));
  if (!picks)
    return failure(); // collectPicks said why
  Value result = pick(ctx, *picks);
  return result ? ctx.replace(result) : failure();
}

/// Where the mask does not hold, the positions do not count and the result is `fill`.
LogicalResult lowerMaskedIndex(LowerContext &ctx) {
  Value x = ctx.tensor("self"), mask = ctx.cast(ctx.tensor("mask"), ctx.i1());
  Value fill = ctx.constant(ctx.number("fill"), dtypeOf(x));
  if (llvm::is_contained(shapeOf(x), 0))
    return ctx.replace(ctx.expand(fill, ctx.sizes(mask)));
  SmallVector<Value> indices = ctx.tensors("indices");
  for (Value &index : indices)
    if (index)
      index = ctx.select(mask, ctx.cast(index, ctx.i64()), ctx.constant(0, ctx.i64()));
  std::optional<Picks> picks = collectPicks(ctx, x, indices);
  if (!picks)
    return failure(); // collectPicks said why
  Value picked = pick(ctx, *picks);
  return picked ? ctx.replace(ctx.select(mask, picked, fill)) : failure();
}

LogicalResult lowerTake(LowerContext &ctx) {
  return ctx.replace(ctx.indexSelect(ctx.flatten(ctx.tensor("self")), ctx.tensor("index"), 0));
}

LogicalResult lowerTakeAlongDim(LowerContext &ctx) {
  Value x = ctx.tensor("self"), index = ctx.cast(ctx.tensor("indices"), ctx.i64());
  if (ctx.isNone("dim")) {
    x = ctx.flatten(x);
    index = ctx.flatten(index);
  }
  if (rankOf(x) != rankOf(index) || rankOf(x) == 0)
    return ctx.refuse("operand and index must have one rank, at least 1");
  int64_t axis = ctx.isNone("dim") ? 0 : ctx.axis("dim", rankOf(x));
  Sizes common = broadcastSizes(ctx, {x, index}), xSizes = common, indexSizes = common;
  xSizes[axis] = ctx.dim(x, axis);
  indexSizes[axis] = ctx.dim(index, axis);
  x = ctx.expand(x, xSizes);
  index = ctx.expand(index, indexSizes);
  auto type = withShape(tensorType(x), shapeOf(index));
  return ctx.replace(ctx.create<GatherOp>(type, x, index, axis).getResult());
}

//===------------------------------------------------------------------------------------------===//
// Positions of what is not zero
//===------------------------------------------------------------------------------------------===//

namespace {

Value positionsOf(LowerContext &ctx, Value x) {
  auto type = RankedTensorType::get({ShapedType::kDynamic, rankOf(x)}, ctx.i64());
  return ctx.create<NonzeroOp>(type, x).getResult();
}

/// One vector for each dimension; a zero-dimensional tensor has one.
LogicalResult splitPositions(LowerContext &ctx, Value x) {
  Value positions = positionsOf(ctx, atLeastVector(ctx, x));
  SmallVector<Value> columns;
  for (int64_t i = 0; i < shapeOf(positions)[1]; ++i)
    columns.push_back(ctx.dropDims(ctx.slice(positions, 1, i, i + 1), {1}));
  return ctx.replace(columns);
}

} // namespace

LogicalResult lowerNonzero(LowerContext &ctx) { return ctx.replace(positionsOf(ctx, ctx.tensor("self"))); }
LogicalResult lowerNonzeroNumpy(LowerContext &ctx) { return splitPositions(ctx, ctx.tensor("self")); }
LogicalResult lowerWherePositions(LowerContext &ctx) { return splitPositions(ctx, ctx.tensor("condition")); }

LogicalResult lowerNonzeroStatic(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Size rows = ctx.size("size");
  auto type = RankedTensorType::get({rows.entry(), rankOf(x)}, ctx.i64());
  SmallVector<Value> dynamic;
  if (!rows.isStatic())
    dynamic.push_back(rows.dynamic);
  int64_t fill = ctx.integer("fill_value");
  return ctx.replace(ctx.create<NonzeroStaticOp>(type, x, dynamic, ArrayRef<int64_t>(rows.entry()), fill).getResult());
}

LogicalResult lowerMaskedSelect(LowerContext &ctx) {
  Value x = ctx.tensor("self"), mask = ctx.cast(ctx.tensor("mask"), ctx.i1());
  Sizes sizes = broadcastSizes(ctx, {x, mask});
  x = ctx.flatten(ctx.expand(x, sizes));
  Value positions = positionsOf(ctx, ctx.flatten(ctx.expand(mask, sizes)));
  return ctx.replace(ctx.indexSelect(x, ctx.dropDims(positions, {1}), 0));
}

} // namespace ingot::lower
