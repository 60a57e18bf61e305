// Writing, adding and reducing at positions given by index.
#include "dialect/ScatterOps.h"
#include "lower/Pick.h"

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// scatter: one position an element
//===------------------------------------------------------------------------------------------===//

namespace {

/// PyTorch's names of reductions and ours.
std::optional<StringRef> reductionOf(LowerContext &ctx) {
  static const std::pair<StringRef, StringRef> names[] = {{"add", "add"},   {"multiply", "prod"}, {"sum", "add"},
                                                          {"prod", "prod"}, {"mean", "mean"},     {"amax", "amax"},
                                                          {"amin", "amin"}};
  StringRef given = ctx.string("reduce");
  for (auto [theirs, ours] : names)
    if (given == theirs)
      return ours;
  (void)ctx.refuse("reduction '" + given + "' is unknown");
  return std::nullopt;
}

/// float16 and bfloat16 are summed in float32 and rounded once.
Type sumType(Value x, StringRef reduce) {
  bool isExact = reduce == "none" || reduce == "amax" || reduce == "amin";
  return isExact ? dtypeOf(x) : computeType(dtypeOf(x));
}

LogicalResult scatter(LowerContext &ctx, Value source, StringRef reduce, bool includeSelf = true) {
  Value x = ctx.tensor("self"), index = ctx.cast(ctx.tensor("index"), ctx.i64());
  Type dtype = dtypeOf(x), compute = sumType(x, reduce);
  if (llvm::is_contained(shapeOf(index), 0))
    return ctx.replace(x);
  Sizes sizes = ctx.sizes(x);
  int64_t axis = ctx.axis("dim", rankOf(x));
  x = ctx.cast(atLeastVector(ctx, x), compute);
  index = atLeastVector(ctx, index);
  source = ctx.cast(atLeastVector(ctx, source), compute);
  if (rankOf(x) != rankOf(index) || rankOf(x) != rankOf(source))
    return ctx.refuse("operand, index and source must have one rank");
  Value result = ctx.create<ScatterOp>(x.getType(), x, index, source, axis, reduce, includeSelf).getResult();
  return ctx.replace(ctx.reshape(ctx.cast(refusingNegative(result), dtype), sizes));
}

/// A number that is written everywhere.
Value filledSource(LowerContext &ctx) {
  Value value = ctx.constant(ctx.number("value"), dtypeOf(ctx.tensor("self")));
  return ctx.expand(value, ctx.sizes(ctx.tensor("index")));
}

} // namespace

LogicalResult lowerScatterSrc(LowerContext &ctx) { return scatter(ctx, ctx.tensor("src"), "none"); }
LogicalResult lowerScatterValue(LowerContext &ctx) { return scatter(ctx, filledSource(ctx), "none"); }
LogicalResult lowerScatterAdd(LowerContext &ctx) { return scatter(ctx, ctx.tensor("src"), "add"); }

LogicalResult lowerScatterReduce(LowerContext &ctx) {
  std::optional<StringRef> reduce = reductionOf(ctx);
  if (!reduce)
    return failure(); // reductionOf said why
  bool includeSelf = !ctx.has("include_self") || ctx.flag("include_self");
  return scatter(ctx, ctx.has("src") ? ctx.tensor("src") : filledSource(ctx), *reduce, includeSelf);
}

//===------------------------------------------------------------------------------------------===//
// index_…: one position a slice
//===------------------------------------------------------------------------------------------===//

namespace {

/// Slices along `dim` of x, at the positions `index`, are combined with those of `source`.
LogicalResult putSlices(LowerContext &ctx, Value source, StringRef reduce, bool includeSelf = true,
                        bool refusesNegative = true) {
  Value x = ctx.tensor("self"), index = ctx.cast(ctx.flatten(ctx.tensor("index")), ctx.i64());
  Sizes sizes = ctx.sizes(x);
  Type dtype = dtypeOf(x);
  int64_t axis = ctx.axis("dim", rankOf(x));
  Value vector = atLeastVector(ctx, x);
  Sizes wanted = ctx.sizes(vector);
  wanted[axis] = ctx.dim(index, 0);
  source = rankOf(source) < rankOf(vector) ? ctx.expand(source, wanted) : source;
  if (reduce == "mean" || reduce == "prod")
    vector = ctx.cast(vector, computeType(dtype));
  Picks picks{vector, {index}, {axis}, axisRange(0, rankOf(vector)), refusesNegative};
  Value result = put(ctx, picks, source, reduce, includeSelf);
  return result ? ctx.replace(ctx.reshape(ctx.cast(result, dtype), sizes)) : failure();
}

} // namespace

LogicalResult lowerIndexAdd(LowerContext &ctx) {
  Value source = ctx.cast(ctx.tensor("source"), dtypeOf(ctx.tensor("self")));
  Number alpha = ctx.number("alpha");
  if (!alpha.is(1))
    source = ctx.binary<MulOp>(source, ctx.constant(alpha, dtypeOf(source)));
  return putSlices(ctx, source, "add");
}

LogicalResult lowerIndexCopy(LowerContext &ctx) { return putSlices(ctx, ctx.tensor("source"), "none"); }

LogicalResult lowerIndexFill(LowerContext &ctx) {
  Value x = ctx.tensor("self"), value = ctx.as(ctx.operand("value"), dtypeOf(x));
  return putSlices(ctx, ctx.reshape(value, {}), "none", true, false);
}

LogicalResult lowerIndexReduce(LowerContext &ctx) {
  std::optional<StringRef> reduce = reductionOf(ctx);
  return reduce ? putSlices(ctx, ctx.tensor("source"), *reduce, ctx.flag("include_self")) : failure();
}

LogicalResult lowerPut(LowerContext &ctx) {
  Value x = ctx.tensor("self"), index = ctx.cast(ctx.flatten(ctx.tensor("index")), ctx.i64());
  Picks picks{ctx.flatten(x), {index}, {0}, {0}};
  Value result = put(ctx, picks, ctx.flatten(ctx.tensor("source")), ctx.flag("accumulate") ? "add" : "none");
  return result ? ctx.replace(ctx.reshape(result, ctx.sizes(x))) : failure();
}

//===------------------------------------------------------------------------------------------===//
// x[…] = values
//===------------------------------------------------------------------------------------------===//

namespace {

/// A single mask with values that are the same at every position it holds: no position needs to be known. Null
/// where that is not so.
Value putWhere(LowerContext &ctx, Value x, ArrayRef<Value> indices, Value values, bool accumulate) {
  Value mask;
  int64_t axis = 0;
  for (auto [i, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    if (mask || !isMask(index))
      return {};
    mask = index;
    axis = static_cast<int64_t>(i);
  }
  int64_t after = mask ? rankOf(x) - axis - rankOf(mask) : -1;
  if (after < 0)
    return {};
  if (llvm::all_of(shapeOf(values), [](int64_t size) { return size == 1; }))
    values = ctx.reshape(values, {});
  if (rankOf(values) > after)
    return {};
  Sizes sizes = ctx.sizes(mask);
  sizes.append(after, Size(1));
  mask = ctx.reshape(ctx.cast(mask, ctx.i1()), sizes);
  values = ctx.cast(values, dtypeOf(x));
  return ctx.select(mask, accumulate ? ctx.binary<AddOp>(x, values) : values, x);
}

LogicalResult indexPut(LowerContext &ctx, ArrayRef<Value> indices, Value values, bool accumulate) {
  Value x = ctx.tensor("self");
  if (Value result = putWhere(ctx, x, indices, values, accumulate))
    return ctx.replace(result);
  std::optional<Picks> picks = collectPicks(ctx, x, indices);
  if (!picks)
    return failure(); // collectPicks said why
  if (rankOf(picks->x) != rankOf(x))
    return ctx.refuse("a zero-dimensional mask among other indices");
  values = ctx.cast(values, dtypeOf(x));
  if (picks->isEmpty())
    return ctx.replace(accumulate ? ctx.binary<AddOp>(x, values) : ctx.expand(values, ctx.sizes(x)));
  Value result = put(ctx, *picks, values, accumulate ? "add" : "none");
  return result ? ctx.replace(result) : failure();
}

} // namespace

LogicalResult lowerIndexPut(LowerContext &ctx) {
  return indexPut(ctx, ctx.tensors("indices"), ctx.tensor("values"), ctx.flag("accumulate"));
}

/// Where the mask does not hold, nothing is added.
LogicalResult lowerMaskedIndexPut(LowerContext &ctx) {
  Value mask = ctx.cast(ctx.tensor("mask"), ctx.i1()), values = ctx.tensor("values");
  if (llvm::is_contained(shapeOf(ctx.tensor("self")), 0))
    return ctx.replace(ctx.tensor("self"));
  SmallVector<Value> indices = ctx.tensors("indices");
  for (Value &index : indices)
    if (index)
      index = ctx.select(mask, ctx.cast(index, ctx.i64()), ctx.constant(0, ctx.i64()));
  return indexPut(ctx, indices, ctx.select(mask, values, ctx.constant(0, dtypeOf(values))), true);
}

/// The source's elements go, one after another, where the mask holds: each place counts those before it.
LogicalResult lowerMaskedScatter(LowerContext &ctx) {
  Value x = ctx.tensor("self"), mask = ctx.cast(ctx.tensor("mask"), ctx.i1());
  Value source = ctx.flatten(ctx.cast(ctx.tensor("source"), dtypeOf(x)));
  Sizes sizes = broadcastSizes(ctx, {x, mask});
  if (shapeOf(source).front() == 0)
    return ctx.replace(ctx.expand(x, sizes));
  x = ctx.expand(x, sizes);
  mask = ctx.expand(mask, sizes);
  Value isHeld = ctx.cast(ctx.flatten(mask), ctx.i64());
  Value seen = ctx.create<CumsumOp>(isHeld.getType(), isHeld, 0).getResult();
  Value last = ctx.constant(Number::of(ctx.minus(ctx.dim(source, 0), 1)), ctx.i64());
  Value position = ctx.binary<MaximumOp>(ctx.binary<SubOp>(seen, 1), 0);
  // Past the last place that is held, nothing of the source is needed.
  position = ctx.select(ctx.flatten(mask), position, ctx.binary<MinimumOp>(position, last));
  Value picked = ctx.reshape(ctx.indexSelect(source, position, 0), sizes);
  return ctx.replace(ctx.select(mask, picked, x));
}

//===------------------------------------------------------------------------------------------===//
// Other elements in the same memory
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerBitcast(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  auto type = RankedTensorType::get(ctx.resultType().getShape(), ctx.resultDtype());
  if (dtypeOf(x) == ctx.resultDtype())
    return ctx.replace(x);
  return ctx.replace(ctx.create<BitcastOp>(type, x).getResult());
}

} // namespace ingot::lower
