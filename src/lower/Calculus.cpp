// Differences, gradients and integrals along a dimension.
#include "lower/Bounds.h"
#include "lower/Pick.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// Elements [from, size - back) along an axis.
Value inner(LowerContext &ctx, Value x, int64_t axis, int64_t from, int64_t back) {
  int64_t size = shapeOf(x)[axis], length = kDynamicEntry;
  if (size != kDynamicEntry)
    length = std::max<int64_t>(0, size - back - from);
  from = size == 0 ? 0 : from;
  Size end = length != kDynamicEntry ? Size(from + length) : ctx.minus(ctx.dim(x, axis), back);
  return ctx.slice(x, axis, from, end, 1, length);
}

/// One element at `index`, which counts from the end where negative.
Value at(LowerContext &ctx, Value x, int64_t axis, int64_t index) {
  Size start = index < 0 ? ctx.plus(ctx.dim(x, axis), index) : Size(index);
  return ctx.slice(x, axis, start, ctx.plus(start, 1), 1, 1);
}

Value difference(LowerContext &ctx, Value x, int64_t axis) {
  Value low = inner(ctx, x, axis, 0, 1), high = inner(ctx, x, axis, 1, 0);
  return isBool(dtypeOf(x)) ? ctx.binary<BitwiseXorOp>(high, low) : ctx.binary<SubOp>(high, low);
}

} // namespace

LogicalResult lowerDiff(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (rankOf(x) == 0)
    return ctx.refuse("needs a dimension");
  int64_t axis = ctx.axis("dim", rankOf(x)), times = ctx.integer("n");
  if (times < 0 || times > kMaxCopies)
    return ctx.refuse("n must be from 0 to " + llvm::Twine(kMaxCopies));
  SmallVector<Value> parts;
  for (Value part : {ctx.optionalTensor("prepend"), x, ctx.optionalTensor("append")})
    if (part)
      parts.push_back(ctx.cast(part, ctx.resultDtype()));
  Value result = times == 0 ? x : ctx.concat(parts, axis);
  for (int64_t i = 0; i < times && shapeOf(result)[axis] != 0; ++i)
    result = difference(ctx, result, axis);
  return ctx.replace(result);
}

//===------------------------------------------------------------------------------------------===//
// Gradients
//===------------------------------------------------------------------------------------------===//

namespace {

/// a * x + b * y + c * z
struct Stencil {
  Value a, b, c;
};

Value weighted(LowerContext &ctx, const Stencil &weights, Value x, Value y, Value z) {
  Value sum = ctx.binary<AddOp>(ctx.binary<MulOp>(weights.a, x), ctx.binary<MulOp>(weights.b, y));
  return ctx.binary<AddOp>(sum, ctx.binary<MulOp>(weights.c, z));
}

Value twice(LowerContext &ctx, Value x) { return ctx.binary<MulOp>(x, 2); }

/// Second-order weights of the derivative at the middle, first or last of three points with distances p and q.
Stencil middleWeights(LowerContext &ctx, Value p, Value q) {
  Value sum = ctx.binary<AddOp>(p, q);
  Value a = ctx.binary<DivOp>(ctx.unary<NegOp>(q), ctx.binary<MulOp>(p, sum));
  Value b = ctx.binary<DivOp>(ctx.binary<SubOp>(q, p), ctx.binary<MulOp>(p, q));
  return {a, b, ctx.binary<DivOp>(p, ctx.binary<MulOp>(q, sum))};
}

Stencil firstWeights(LowerContext &ctx, Value p, Value q) {
  Value sum = ctx.binary<AddOp>(p, q);
  Value a = ctx.binary<DivOp>(ctx.unary<NegOp>(ctx.binary<AddOp>(twice(ctx, p), q)), ctx.binary<MulOp>(p, sum));
  Value b = ctx.binary<DivOp>(sum, ctx.binary<MulOp>(p, q));
  return {a, b, ctx.binary<DivOp>(ctx.unary<NegOp>(p), ctx.binary<MulOp>(q, sum))};
}

Stencil lastWeights(LowerContext &ctx, Value p, Value q) {
  Value sum = ctx.binary<AddOp>(p, q);
  Value a = ctx.binary<DivOp>(q, ctx.binary<MulOp>(p, sum));
  Value b = ctx.binary<DivOp>(ctx.unary<NegOp>(sum), ctx.binary<MulOp>(p, q));
  return {a, b, ctx.binary<DivOp>(ctx.binary<AddOp>(twice(ctx, q), p), ctx.binary<MulOp>(q, sum))};
}

/// The derivative along an axis at points whose distances are `steps`, shaped to broadcast along it.
Value derivative(LowerContext &ctx, Value x, int64_t axis, Value steps, int64_t order) {
  int64_t along = rankOf(steps) - (rankOf(x) - axis);
  Value p = inner(ctx, steps, along, 0, 1), q = inner(ctx, steps, along, 1, 0);
  Value centre = weighted(ctx, middleWeights(ctx, p, q), inner(ctx, x, axis, 0, 2), inner(ctx, x, axis, 1, 1),
                          inner(ctx, x, axis, 2, 0));
  Value first, last;
  if (order == 1) {
    first = ctx.binary<DivOp>(ctx.binary<SubOp>(at(ctx, x, axis, 1), at(ctx, x, axis, 0)), at(ctx, steps, along, 0));
    last = ctx.binary<DivOp>(ctx.binary<SubOp>(at(ctx, x, axis, -1), at(ctx, x, axis, -2)), at(ctx, steps, along, -1));
  } else {
    Stencil start = firstWeights(ctx, at(ctx, steps, along, 0), at(ctx, steps, along, 1));
    first = weighted(ctx, start, at(ctx, x, axis, 0), at(ctx, x, axis, 1), at(ctx, x, axis, 2));
    Stencil end = lastWeights(ctx, at(ctx, steps, along, -2), at(ctx, steps, along, -1));
    last = weighted(ctx, end, at(ctx, x, axis, -3), at(ctx, x, axis, -2), at(ctx, x, axis, -1));
  }
  return ctx.concat({first, centre, last}, axis);
}

/// Steps of one length.
Value evenDerivative(LowerContext &ctx, Value x, int64_t axis, Value step, int64_t order) {
  Value centre = ctx.binary<DivOp>(ctx.binary<SubOp>(inner(ctx, x, axis, 2, 0), inner(ctx, x, axis, 0, 2)), 2);
  Value first = ctx.binary<SubOp>(at(ctx, x, axis, 1), at(ctx, x, axis, 0));
  Value last = ctx.binary<SubOp>(at(ctx, x, axis, -1), at(ctx, x, axis, -2));
  if (order == 2) {
    auto scaled = [&](int64_t index, double factor) { return ctx.binary<MulOp>(at(ctx, x, axis, index), factor); };
    first = ctx.binary<SubOp>(ctx.binary<AddOp>(scaled(0, -1.5), scaled(1, 2)), scaled(2, 0.5));
    last = ctx.binary<AddOp>(ctx.binary<SubOp>(scaled(-3, 0.5), scaled(-2, 2)), scaled(-1, 1.5));
  }
  return ctx.binary<DivOp>(ctx.concat({first, centre, last}, axis), step);
}

/// The spacing along dimension number `i` of those asked for: one distance, or the coordinates of the points.
Value spacingOf(LowerContext &ctx, size_t i, Type dtype) {
  Attribute spacing = ctx.attr("spacing");
  if (!spacing || isa<UnitAttr>(spacing))
    return ctx.constant(1, dtype);
  auto list = dyn_cast<ArrayAttr>(spacing);
  if (!list)
    return ctx.as(ctx.operand("spacing"), dtype);
  size_t place = std::min<size_t>(i, list.size() - 1);
  // Numbers are taken as they are: as tensors they would have lost digits.
  if (auto real = dyn_cast<FloatAttr>(list[place]))
    return ctx.constant(real.getValueAsDouble(), dtype);
  return ctx.cast(ctx.tensors("spacing")[place], dtype);
}

} // namespace

LogicalResult lowerGradient(LowerContext &ctx) {
  Value self = ctx.tensor("self");
  int64_t rank = rankOf(self), order = ctx.integer("edge_order");
  SmallVector<int64_t> dims = ctx.isNone("dim") ? axisRange(0, rank) : ctx.integers("dim");
  Type dtype = ctx.resultDtype();
  Value x = ctx.cast(self, dtype);
  if (auto list = dyn_cast_or_null<ArrayAttr>(ctx.attr("spacing")); list && list.empty())
    return ctx.refuse("needs a spacing for every dimension");
  SmallVector<Value> results;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    int64_t axis = ctx.normalizeAxis(dim, rank);
    Value step = spacingOf(ctx, i, dtype);
    if (rankOf(step) == 0) {
      results.push_back(evenDerivative(ctx, x, axis, step, order));
      continue;
    }
    Value steps = difference(ctx, step, 0);
    Sizes shape(rank - axis, Size(1));
    shape.front() = ctx.dim(steps, 0);
    results.push_back(derivative(ctx, x, axis, ctx.reshape(steps, shape), order));
  }
  return ctx.replace(results);
}

//===------------------------------------------------------------------------------------------===//
// Integrals by the trapezoidal rule
//===------------------------------------------------------------------------------------------===//

namespace {

/// y[i] + y[i + 1], times the distances of the points where they are given.
Value trapezoids(LowerContext &ctx, Value y, int64_t axis) {
  Value sums = ctx.binary<AddOp>(inner(ctx, y, axis, 0, 1), inner(ctx, y, axis, 1, 0));
  if (!ctx.has("x"))
    return sums;
  Value x = ctx.tensor("x");
  Value steps;
  if (rankOf(x) == 1) {
    steps = difference(ctx, x, 0);
    Sizes shape(rankOf(y) - axis, Size(1));
    shape.front() = ctx.dim(steps, 0);
    steps = ctx.reshape(steps, shape);
  } else {
    steps = difference(ctx, x, rankOf(x) - (rankOf(y) - axis));
  }
  Type dtype = promoteTypes(dtypeOf(sums), dtypeOf(steps));
  return ctx.binary<MulOp>(ctx.cast(sums, dtype), ctx.cast(steps, dtype));
}

/// Sums of integers are int64.
Value wideForSums(LowerContext &ctx, Value x) {
  return ctx.cast(x, isIntegral(dtypeOf(x)) ? ctx.i64() : computeType(dtypeOf(x)));
}

/// Half a sum of trapezoids is the integral.
LogicalResult finishIntegral(LowerContext &ctx, Value sums) {
  Type dtype = ctx.resultDtype();
  Value wide = ctx.cast(sums, computeType(dtype));
  return ctx.replace(ctx.cast(ctx.binary<MulOp>(wide, 0.5), dtype));
}

} // namespace

/// All values without half of the first and the last one. That is another number than the sum of trapezoids where numbers
/// are infinite or wrap, and it is eager's.
static LogicalResult lowerEvenTrapezoid(LowerContext &ctx, Value y, int64_t axis) {
  Type dtype = ctx.resultDtype(), compute = computeType(dtype);
  auto whole = ctx.reduce(ReduceKind::Sum, wideForSums(ctx, y), {axis});
  Value ends = ctx.binary<AddOp>(at(ctx, y, axis, 0), at(ctx, y, axis, -1));
  Value half = ctx.binary<MulOp>(ctx.cast(ends, compute), 0.5);
  Value result = ctx.binary<MulOp>(ctx.binary<SubOp>(ctx.cast(whole, compute), half), ctx.real("dx"));
  return ctx.replace(ctx.cast(ctx.dropDims(result, {axis}), dtype));
}

LogicalResult lowerTrapezoid(LowerContext &ctx) {
  Value y = ctx.tensor("y");
  if (rankOf(y) == 0)
    return ctx.refuse("needs a dimension");
  int64_t axis = ctx.axis("dim", rankOf(y));
  if (shapeOf(y)[axis] == 0) {
    Sizes sizes = ctx.sizes(y);
    sizes.erase(sizes.begin() + axis);
    return ctx.replace(ctx.full(Number::of(int64_t{0}), sizes, ctx.resultDtype()));
  }
  if (!ctx.has("x"))
    return lowerEvenTrapezoid(ctx, y, axis);
  Value parts = wideForSums(ctx, trapezoids(ctx, y, axis));
  int64_t along = rankOf(parts) - (rankOf(y) - axis);
  return finishIntegral(ctx, ctx.dropDims(ctx.reduce(ReduceKind::Sum, parts, {along}), {along}));
}

LogicalResult lowerCumulativeTrapezoid(LowerContext &ctx) {
  Value y = ctx.tensor("y");
  if (rankOf(y) == 0)
    return ctx.refuse("needs a dimension");
  int64_t axis = ctx.axis("dim", rankOf(y));
  Value parts = trapezoids(ctx, y, axis);
  int64_t along = rankOf(parts) - (rankOf(y) - axis);
  auto cumulate = [&](Value x) { return ctx.create<CumsumOp>(x.getType(), x, along).getResult(); };
  if (ctx.has("x"))
    return finishIntegral(ctx, cumulate(wideForSums(ctx, parts)));
  // Halves are added up, not sums halved: that is another number where sums wrap, and it is eager's.
  Type dtype = ctx.resultDtype(), compute = computeType(dtype);
  Value halves = ctx.cast(ctx.binary<MulOp>(ctx.cast(parts, compute), ctx.real("dx") / 2), dtype);
  return ctx.replace(ctx.cast(cumulate(ctx.cast(halves, compute)), dtype));
}

} // namespace ingot::lower
