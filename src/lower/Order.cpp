// Sorting, picking by rank, running results, distinct elements.
#include "dialect/OrderOps.h"
#include "lower/Pick.h"

#include <limits>

using namespace mlir;

namespace ingot::lower {

namespace {

struct Ranked {
  Value values, positions;
};

/// What an op that gives values and positions along an axis makes of `x`; zero-dimensional tensors are vectors of one
/// element to it.
template <typename Op, typename... Args>
Ranked along(LowerContext &ctx, Value x, RankedTensorType type, const Args &...args) {
  auto positions = withElement(type, ctx.i64());
  auto op = ctx.create<Op>(type, positions, x, args...);
  return {op.getValues(), op.getIndices()};
}

Ranked sorted(LowerContext &ctx, Value x, int64_t axis, bool descending, bool stable) {
  return along<SortOp>(ctx, x, tensorType(x), axis, descending, stable);
}

/// The argument `dim`, of a tensor that is no longer zero-dimensional.
int64_t axisOf(LowerContext &ctx, StringRef name = "dim") { return ctx.axis(name, rankOf(ctx.tensor("self"))); }

Value likeSelf(LowerContext &ctx, Value value) {
  return rankOf(ctx.tensor("self")) == 0 ? ctx.reshape(value, {}) : value;
}

Ranked sortedSelf(LowerContext &ctx, int64_t axis) {
  bool descending = ctx.has("descending") && ctx.flag("descending");
  bool stable = ctx.has("stable") && ctx.flag("stable");
  Ranked result = sorted(ctx, atLeastVector(ctx, ctx.tensor("self")), axis, descending, stable);
  return {likeSelf(ctx, result.values), likeSelf(ctx, result.positions)};
}

/// The axis of a result that has kept it with size 1 goes away without keepdim.
LogicalResult replaceReduced(LowerContext &ctx, Ranked found, int64_t axis) {
  if (rankOf(ctx.tensor("self")) == 0 || !ctx.flag("keepdim")) {
    found.values = ctx.dropDims(found.values, axis);
    found.positions = ctx.dropDims(found.positions, axis);
  }
  return ctx.replace({found.values, found.positions});
}

RankedTensorType reducedType(Value x, int64_t axis) { return reduceType(tensorType(x), axis); }

/// A count as the ops take it: a list of one entry.
struct Count {
  SmallVector<Value> dynamic;
  int64_t entry;

  explicit Count(Size size) : entry(size.entry()) {
    if (!size.isStatic())
      dynamic.push_back(size.dynamic);
  }
};

} // namespace

LogicalResult lowerSort(LowerContext &ctx) {
  Ranked result = sortedSelf(ctx, axisOf(ctx));
  return ctx.replace({result.values, result.positions});
}

LogicalResult lowerArgsort(LowerContext &ctx) { return ctx.replace(sortedSelf(ctx, axisOf(ctx)).positions); }
LogicalResult lowerMsort(LowerContext &ctx) { return ctx.replace(sortedSelf(ctx, 0).values); }

LogicalResult lowerTopk(LowerContext &ctx) {
  Value x = atLeastVector(ctx, ctx.tensor("self"));
  int64_t axis = axisOf(ctx);
  Count k(ctx.size("k"));
  SmallVector<int64_t> shape(shapeOf(x));
  shape[axis] = k.entry;
  Ranked found = along<TopkOp>(ctx, x, withShape(tensorType(x), shape), k.dynamic, ArrayRef<int64_t>(k.entry), axis,
                               ctx.flag("largest"), ctx.flag("sorted"));
  return ctx.replace({likeSelf(ctx, found.values), likeSelf(ctx, found.positions)});
}

LogicalResult lowerKthValue(LowerContext &ctx) {
  Value x = atLeastVector(ctx, ctx.tensor("self"));
  int64_t axis = axisOf(ctx);
  Count k(ctx.size("k"));
  Ranked found = along<KthValueOp>(ctx, x, reducedType(x, axis), k.dynamic, ArrayRef<int64_t>(k.entry), axis);
  return replaceReduced(ctx, found, axis);
}

LogicalResult lowerMode(LowerContext &ctx) {
  Value x = atLeastVector(ctx, ctx.tensor("self"));
  int64_t axis = axisOf(ctx);
  return replaceReduced(ctx, along<ModeOp>(ctx, x, reducedType(x, axis), axis), axis);
}

namespace {

LogicalResult median(LowerContext &ctx, bool ignoresNan) {
  Value x = ctx.tensor("self");
  if (ctx.has("dim")) {
    x = atLeastVector(ctx, x);
    int64_t axis = axisOf(ctx);
    return replaceReduced(ctx, along<MedianOp>(ctx, x, reducedType(x, axis), axis, ignoresNan), axis);
  }
  x = ctx.flatten(x);
  Number nan = Number::of(std::numeric_limits<double>::quiet_NaN()); // the median of nothing
  if (shapeOf(x).front() == 0)
    return ctx.replace(ctx.constant(nan, dtypeOf(x)));
  if (Size count = ctx.dim(x, 0); !count.isStatic())
    x = ctx.concat({x, ctx.full(nan, {ctx.larger(0, ctx.minus(1, count))}, dtypeOf(x))}, 0);
  return ctx.replace(ctx.dropDims(along<MedianOp>(ctx, x, reducedType(x, 0), 0, ignoresNan).values, {0}));
}

} // namespace

LogicalResult lowerMedian(LowerContext &ctx) { return median(ctx, false); }
LogicalResult lowerNanmedian(LowerContext &ctx) { return median(ctx, true); }

//===------------------------------------------------------------------------------------------===//
// Running results
//===------------------------------------------------------------------------------------------===//

namespace {

LogicalResult scan(LowerContext &ctx, Type dtype, StringRef kind) {
  Value x = ctx.cast(atLeastVector(ctx, ctx.tensor("self")), dtype);
  Value wide = ctx.cast(x, computeType(dtype));
  Value result = ctx.create<CumReduceOp>(wide.getType(), wide, axisOf(ctx), kind).getResult();
  return ctx.replace(likeSelf(ctx, ctx.cast(result, dtype)));
}

LogicalResult cumExtreme(LowerContext &ctx, bool minimum) {
  Value x = atLeastVector(ctx, ctx.tensor("self"));
  Ranked found = along<CumExtremeOp>(ctx, x, tensorType(x), axisOf(ctx), minimum);
  return ctx.replace({likeSelf(ctx, found.values), likeSelf(ctx, found.positions)});
}

} // namespace

LogicalResult lowerCumprod(LowerContext &ctx) { return scan(ctx, ctx.resultDtype(), "prod"); }
LogicalResult lowerLogcumsumexp(LowerContext &ctx) { return scan(ctx, ctx.resultDtype(), "logsumexp"); }
LogicalResult lowerCummax(LowerContext &ctx) { return cumExtreme(ctx, false); }
LogicalResult lowerCummin(LowerContext &ctx) { return cumExtreme(ctx, true); }

//===------------------------------------------------------------------------------------------===//
// Quantiles
//===------------------------------------------------------------------------------------------===//

namespace {

/// a + w (b - a), from the nearer end, as PyTorch does.
Value interpolate(LowerContext &ctx, Value a, Value b, Value weight) {
  Value difference = ctx.binary<SubOp>(b, a), one = ctx.constant(1, dtypeOf(a));
  Value fromA = ctx.binary<AddOp>(a, ctx.binary<MulOp>(weight, difference));
  Value fromB = ctx.binary<SubOp>(b, ctx.binary<MulOp>(difference, ctx.binary<SubOp>(one, weight)));
  return ctx.select(ctx.compare<LtOp>(weight, 0.5), fromA, fromB);
}

/// Where quantiles lie among the sorted elements of each line (the last dimension): [..., quantiles].
Value ranksOf(LowerContext &ctx, Value ordered, Value q, bool ignoresNan) {
  int64_t last = rankOf(ordered) - 1;
  Type dtype = dtypeOf(ordered);
  Value isNan = ctx.test<IsnanOp>(ordered);
  if (!ignoresNan) {
    Value top = ctx.constant(Number::of(ctx.minus(ctx.dim(ordered, last), 1)), dtype);
    return ctx.select(ctx.reduce(ReduceKind::Any, isNan, {last}), top, ctx.binary<MulOp>(q, top));
  }
  Value isNumber = ctx.cast(ctx.test<LogicalNotOp>(isNan), dtype);
  Value top = ctx.binary<SubOp>(ctx.reduce(ReduceKind::Sum, isNumber, {last}), 1);
  return ctx.binary<MaximumOp>(ctx.binary<MulOp>(q, top), 0);
}

Value pickRanks(LowerContext &ctx, Value ordered, Value ranks, StringRef mode) {
  int64_t last = rankOf(ordered) - 1;
  auto pickAt = [&](Value positions) {
    Value index = ctx.cast(positions, ctx.i64());
    auto type = withShape(tensorType(ordered), shapeOf(index));
    return ctx.create<GatherOp>(type, ordered, index, last).getResult();
  };
  if (mode == "lower")
    return pickAt(ctx.unary<FloorOp>(ranks));
  if (mode == "higher")
    return pickAt(ctx.unary<CeilOp>(ranks));
  if (mode == "nearest")
    return pickAt(ctx.unary<RoundOp>(ranks));
  Value below = ctx.unary<FloorOp>(ranks);
  Value weight = mode == "midpoint" ? ctx.constant(0.5, dtypeOf(ranks)) : ctx.binary<SubOp>(ranks, below);
  return interpolate(ctx, pickAt(below), pickAt(ctx.unary<CeilOp>(ranks)), weight);
}

LogicalResult quantile(LowerContext &ctx, bool ignoresNan) {
  Value x = ctx.tensor("self");
  int64_t rank = rankOf(x);
  Value q = isFloat(dtypeOf(x)) ? ctx.as(ctx.operand("q"), dtypeOf(x)) : Value();
  if (!q || rankOf(q) > 1)
    return ctx.refuse("takes floating-point tensors and at most one dimension of quantiles");
  bool isWhole = ctx.isNone("dim");
  int64_t axis = isWhole ? 0 : ctx.axis("dim", rank);
  SmallVector<int64_t> order = axisRange(0, rank);
  if (!isWhole && rank > 0) {
    order.erase(order.begin() + axis);
    order.push_back(axis);
  }
  Value lines = isWhole ? ctx.flatten(x) : atLeastVector(ctx, ctx.permute(x, order));
  int64_t last = rankOf(lines) - 1;
  Value ordered = sorted(ctx, lines, last, false, true).values;
  Value ranks = ranksOf(ctx, ordered, atLeastVector(ctx, q), ignoresNan);
  Sizes target = ctx.sizes(lines);
  target[last] = rankOf(q) ? ctx.dim(q, 0) : Size(1);
  Value found = pickRanks(ctx, ordered, ctx.expand(ranks, target), ctx.string("interpolation"));
  // [..., quantiles] becomes [quantiles, ...], with the reduced dimensions back in place for keepdim.
  SmallVector<int64_t> front = axisRange(-1, last);
  front.front() = last;
  found = ctx.permute(found, front);
  Sizes sizes = ctx.sizes(found);
  Sizes kept(sizes.begin() + 1, sizes.end());
  if (ctx.flag("keepdim") && rank > 0)
    kept = isWhole ? Sizes(rank, Size(1)) : (kept.insert(kept.begin() + axis, Size(1)), kept);
  if (rankOf(q))
    kept.insert(kept.begin(), sizes.front());
  return ctx.replace(ctx.reshape(found, kept));
}

} // namespace

LogicalResult lowerQuantile(LowerContext &ctx) { return quantile(ctx, false); }
LogicalResult lowerNanquantile(LowerContext &ctx) { return quantile(ctx, true); }

//===------------------------------------------------------------------------------------------===//
// Distinct elements
//===------------------------------------------------------------------------------------------===//

namespace {

/// Results that were not asked for may be empty, as the program says.
LogicalResult distinct(LowerContext &ctx, bool consecutive, std::optional<int64_t> axis) {
  Value x = ctx.tensor("self");
  Sizes sizes = ctx.sizes(x);
  x = axis ? x : ctx.flatten(x);
  int64_t compared = axis.value_or(-1), place = axis.value_or(0);
  SmallVector<int64_t> shape(shapeOf(x));
  int64_t length = shape[place];
  shape[place] = ShapedType::kDynamic;
  auto count = RankedTensorType::get({ShapedType::kDynamic}, ctx.i64());
  auto each = RankedTensorType::get({length}, ctx.i64());
  auto op = ctx.create<UniqueOp>(withShape(tensorType(x), shape), each, count, x, compared, consecutive);
  SmallVector<Value> results = {op.getValues(), axis ? Value(op.getInverse()) : ctx.reshape(op.getInverse(), sizes),
                                op.getCounts()};
  results.resize(ctx.numResults());
  for (size_t i = 1; i < results.size(); ++i)
    if (ctx.resultType(i).getShape() == ArrayRef<int64_t>(0))
      results[i] = ctx.full(Number::of(int64_t{0}), {Size(0)}, ctx.i64());
  return ctx.replace(results);
}

} // namespace

LogicalResult lowerUnique(LowerContext &ctx) { return distinct(ctx, false, std::nullopt); }

LogicalResult lowerUniqueDim(LowerContext &ctx) {
  if (rankOf(ctx.tensor("self")) == 0)
    return ctx.refuse("a zero-dimensional tensor has no slices");
  return distinct(ctx, false, axisOf(ctx));
}

LogicalResult lowerUniqueConsecutive(LowerContext &ctx) {
  if (ctx.isNone("dim") || rankOf(ctx.tensor("self")) == 0)
    return distinct(ctx, true, std::nullopt);
  return distinct(ctx, true, axisOf(ctx));
}

LogicalResult lowerBincount(LowerContext &ctx) {
  Value x = ctx.tensor("self"), weights = ctx.optionalTensor("weights");
  if (weights && !dtypeOf(weights).isF32())
    weights = ctx.cast(weights, ctx.builder.getF64Type());
  auto type = RankedTensorType::get({ShapedType::kDynamic}, weights ? dtypeOf(weights) : ctx.i64());
  return ctx.replace(ctx.create<BincountOp>(type, x, weights, ctx.integer("minlength")).getResult());
}

//===------------------------------------------------------------------------------------------===//
// Repeats by a tensor
//===------------------------------------------------------------------------------------------===//

namespace {

/// Every position of `repeats` as often as it says. With a known number of them, position i is where i falls among the
/// running sums.
Value repeatedPositions(LowerContext &ctx, Value repeats) {
  if (ctx.isNone("output_size")) {
    auto type = RankedTensorType::get({ShapedType::kDynamic}, ctx.i64());
    return ctx.create<RepeatIndexOp>(type, repeats).getResult();
  }
  Value counts = ctx.cast(repeats, ctx.i64());
  Value ends = ctx.create<CumsumOp>(counts.getType(), counts, 0).getResult();
  Value places = ctx.iota(ctx.size("output_size"));
  return ctx.create<SearchSortedOp>(places.getType(), ends, places, Value(), true).getResult();
}

} // namespace

LogicalResult lowerRepeatIndices(LowerContext &ctx) {
  return ctx.replace(repeatedPositions(ctx, ctx.tensor("repeats")));
}

LogicalResult lowerRepeatInterleaveTensor(LowerContext &ctx) {
  Value x = ctx.tensor("self"), repeats = ctx.flatten(ctx.tensor("repeats"));
  bool isWhole = ctx.isNone("dim") || rankOf(x) == 0;
  x = isWhole ? ctx.flatten(x) : x;
  int64_t axis = isWhole ? 0 : ctx.axis("dim", rankOf(x));
  if (shapeOf(repeats).front() == 1)
    repeats = ctx.expand(repeats, {ctx.dim(x, axis)});
  return ctx.replace(ctx.indexSelect(x, repeatedPositions(ctx, repeats), axis));
}

} // namespace ingot::lower
