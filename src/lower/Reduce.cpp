// Reductions. Those of float16 and bfloat16 are computed in float32 and rounded at the end.
#include "lower/Reduce.h"

#include "dialect/ScatterOps.h"
#include "lower/Complex.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ingot::lower {

namespace {

/// The dimensions to reduce: given, or all.
SmallVector<int64_t> reducedAxes(LowerContext &ctx, Value x) {
  if (ctx.has("dim"))
    return ctx.axes("dim", rankOf(x));
  return axisRange(0, rankOf(x));
}

/// Without keepdim, the reduced dimensions go away.
Value withoutDims(LowerContext &ctx, Value reduced, ArrayRef<int64_t> dims) {
  return ctx.has("keepdim") && ctx.flag("keepdim") ? reduced : ctx.dropDims(reduced, dims);
}

/// The `dtype` argument, or `fallback`.
Type requestedType(LowerContext &ctx, Type fallback) {
  auto dtype = ctx.has("dtype") ? dyn_cast<TypeAttr>(ctx.attr("dtype")) : TypeAttr();
  return dtype ? dtype.getValue() : fallback;
}

/// Sums and products of integers and booleans are int64.
Type accumulatedType(LowerContext &ctx, Value x) {
  return requestedType(ctx, isIntegral(dtypeOf(x)) ? ctx.i64() : dtypeOf(x));
}

/// Sums begin with 0, of which the sum of nothing but -0 has the sign.
Value sumOf(LowerContext &ctx, Value x, ArrayRef<int64_t> dims) {
  return dims.empty() ? ctx.binary<AddOp>(x, 0) : ctx.reduce(ReduceKind::Sum, x, dims);
}

LogicalResult accumulate(LowerContext &ctx, ReduceKind kind) {
  Value x = ctx.tensor("self");
  Type dtype = accumulatedType(ctx, x);
  SmallVector<int64_t> dims = reducedAxes(ctx, x);
  Value wide = ctx.cast(ctx.cast(x, dtype), computeType(dtype));
  Value reduced = kind == ReduceKind::Sum ? sumOf(ctx, wide, dims) : ctx.reduce(kind, wide, dims);
  return ctx.replace(withoutDims(ctx, ctx.cast(reduced, dtype), dims));
}

LogicalResult extreme(LowerContext &ctx, ReduceKind kind) {
  Value x = ctx.tensor("self");
  SmallVector<int64_t> dims = reducedAxes(ctx, x);
  // Complex numbers have no order, but PyTorch does not mind where there is nothing to compare: any reduction gives that.
  if (isComplex(dtypeOf(x)) && llvm::is_contained(ctx.resultType().getShape(), 0))
    kind = ReduceKind::Sum;
  return ctx.replace(withoutDims(ctx, ctx.reduce(kind, x, dims), dims));
}

/// Values and positions along one dimension.
LogicalResult extremeAlong(LowerContext &ctx, ReduceKind kind) {
  Value x = ctx.tensor("self");
  if (rankOf(x) == 0)
    return ctx.replace({x, ctx.constant(0, ctx.i64())});
  int64_t axis = ctx.axis("dim", rankOf(x));
  Value values = ctx.reduce(kind, x, axis);
  Value positions = ctx.argReduce(x, axis, kind == ReduceKind::Min);
  values = withoutDims(ctx, values, axis);
  return ctx.replace({values, withoutDims(ctx, positions, axis)});
}

LogicalResult argExtreme(LowerContext &ctx, bool minimum) {
  Value x = ctx.tensor("self");
  if (rankOf(x) == 0)
    return ctx.replace(ctx.constant(0, ctx.i64()));
  if (!ctx.isNone("dim")) {
    int64_t axis = ctx.axis("dim", rankOf(x));
    return ctx.replace(withoutDims(ctx, ctx.argReduce(x, axis, minimum), axis));
  }
  Value position = ctx.argReduce(ctx.flatten(x), 0, minimum);
  return ctx.replace(ctx.reshape(position, Sizes(ctx.resultType().getRank(), Size(1))));
}

/// any and all give booleans, except that those of uint8 give uint8.
LogicalResult logical(LowerContext &ctx, ReduceKind kind) {
  Value x = ctx.tensor("self");
  Type dtype = dtypeOf(x).isUnsignedInteger(8) ? dtypeOf(x) : ctx.i1();
  SmallVector<int64_t> dims = reducedAxes(ctx, x);
  Value result = ctx.reduce(kind, ctx.cast(x, ctx.i1()), dims);
  return ctx.replace(withoutDims(ctx, ctx.cast(result, dtype), dims));
}

} // namespace

LogicalResult lowerSum(LowerContext &ctx) { return accumulate(ctx, ReduceKind::Sum); }
LogicalResult lowerProd(LowerContext &ctx) { return accumulate(ctx, ReduceKind::Prod); }
LogicalResult lowerAmax(LowerContext &ctx) { return extreme(ctx, ReduceKind::Max); }
LogicalResult lowerAmin(LowerContext &ctx) { return extreme(ctx, ReduceKind::Min); }
LogicalResult lowerMaxDim(LowerContext &ctx) { return extremeAlong(ctx, ReduceKind::Max); }
LogicalResult lowerMinDim(LowerContext &ctx) { return extremeAlong(ctx, ReduceKind::Min); }
LogicalResult lowerArgmax(LowerContext &ctx) { return argExtreme(ctx, false); }
LogicalResult lowerArgmin(LowerContext &ctx) { return argExtreme(ctx, true); }
LogicalResult lowerAny(LowerContext &ctx) { return logical(ctx, ReduceKind::Any); }
LogicalResult lowerAll(LowerContext &ctx) { return logical(ctx, ReduceKind::All); }

LogicalResult lowerAminmax(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  SmallVector<int64_t> dims = reducedAxes(ctx, x);
  Value low = withoutDims(ctx, ctx.reduce(ReduceKind::Min, x, dims), dims);
  return ctx.replace({low, withoutDims(ctx, ctx.reduce(ReduceKind::Max, x, dims), dims)});
}

LogicalResult lowerMean(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Type dtype = requestedType(ctx, dtypeOf(x));
  if (!isFloat(dtype) && !isComplex(dtype))
    return ctx.refuse("PyTorch gives means of floating-point tensors only");
  SmallVector<int64_t> dims = reducedAxes(ctx, x);
  Value wide = ctx.cast(ctx.cast(x, dtype), computeType(dtype));
  Value result = dims.empty() ? sumOf(ctx, wide, dims) : ctx.mean(wide, dims);
  return ctx.replace(withoutDims(ctx, ctx.cast(result, dtype), dims));
}

namespace {

/// The elements, and 1 where they are numbers: what sums and means without NaN are made of.
struct Numbers {
  Value values, isNumber;
};

Numbers numbersOf(LowerContext &ctx, Value x, Type dtype) {
  Value wide = ctx.cast(ctx.cast(x, dtype), computeType(dtype));
  if (isIntegral(dtype))
    return {wide, ctx.full(Number::of(int64_t{1}), ctx.sizes(x), dtypeOf(wide))};
  Value isNan = ctx.test<IsnanOp>(wide);
  Value isNumber = ctx.cast(ctx.test<LogicalNotOp>(isNan), dtypeOf(wide));
  return {ctx.select(isNan, ctx.constant(0, dtypeOf(wide)), wide), isNumber};
}

} // namespace

LogicalResult lowerNansum(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Type dtype = accumulatedType(ctx, x);
  SmallVector<int64_t> dims = reducedAxes(ctx, x);
  Value sum = sumOf(ctx, numbersOf(ctx, x, dtype).values, dims);
  return ctx.replace(withoutDims(ctx, ctx.cast(sum, dtype), dims));
}

LogicalResult lowerNanmean(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Type dtype = requestedType(ctx, dtypeOf(x));
  SmallVector<int64_t> dims = reducedAxes(ctx, x);
  Numbers numbers = numbersOf(ctx, x, dtype);
  Value sum = sumOf(ctx, numbers.values, dims);
  sum = ctx.cast(ctx.cast(sum, dtype), dtypeOf(sum)); // where eager's sum overflows, so does its mean
  Value mean = ctx.binary<DivOp>(sum, ctx.reduce(ReduceKind::Sum, numbers.isNumber, dims));
  return ctx.replace(withoutDims(ctx, ctx.cast(mean, dtype), dims));
}

LogicalResult lowerSumToSize(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Sizes sizes = ctx.sizeList("size");
  int64_t lead = rankOf(x) - static_cast<int64_t>(sizes.size());
  if (lead < 0)
    return ctx.refuse("more sizes than dimensions");
  SmallVector<int64_t> dims = axisRange(0, lead);
  for (int64_t i = lead; i < rankOf(x); ++i)
    if (sizes[i - lead].is(1) && shapeOf(x)[i] != 1)
      dims.push_back(i);
  Type dtype = ctx.resultDtype();
  Value sum = ctx.reduce(ReduceKind::Sum, ctx.cast(x, computeType(dtype)), dims);
  return ctx.replace(ctx.dropDims(ctx.cast(sum, dtype), axisRange(0, lead)));
}

LogicalResult lowerCumsum(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Type dtype = accumulatedType(ctx, x);
  Value wide = ctx.cast(ctx.cast(x, dtype), computeType(dtype));
  if (rankOf(x) == 0)
    return ctx.replace(ctx.cast(wide, dtype));
  int64_t axis = ctx.axis("dim", rankOf(x));
  Value result = ctx.create<CumsumOp>(wide.getType(), wide, axis).getResult();
  return ctx.replace(ctx.cast(result, dtype));
}

//===------------------------------------------------------------------------------------------===//
// Variance
//===------------------------------------------------------------------------------------------===//

namespace {

struct Moments {
  Value mean, variance;
  SmallVector<int64_t> dims;
};

/// What is taken off the number of elements: `correction`, or 1 and 0 for `unbiased`.
double correctionOf(LowerContext &ctx) {
  if (ctx.has("unbiased"))
    return ctx.flag("unbiased") ? 1 : 0;
  return ctx.optionalReal("correction").value_or(1);
}

/// |x|², which is real for complex numbers too.
Value squared(LowerContext &ctx, Value x) {
  if (!isComplex(dtypeOf(x)))
    return ctx.binary<MulOp>(x, x);
  Value real = realPart(ctx, x), imaginary = imagPart(ctx, x);
  return ctx.binary<AddOp>(ctx.binary<MulOp>(real, real), ctx.binary<MulOp>(imaginary, imaginary));
}

/// In the type of computation, dimensions kept; nullopt after refusing.
std::optional<Moments> moments(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isFloat(dtypeOf(x)) && !isComplex(dtypeOf(x))) {
    (void)ctx.refuse("variances of floating-point tensors only");
    return std::nullopt;
  }
  Value wide = ctx.cast(x, computeType(dtypeOf(x)));
  Moments result{{}, {}, reducedAxes(ctx, x)};
  result.mean = result.dims.empty() ? wide : ctx.mean(wide, result.dims);
  Value squares = ctx.reduce(ReduceKind::Sum, squared(ctx, ctx.binary<SubOp>(wide, result.mean)), result.dims);
  Value count = ctx.constant(Number::of(ctx.numElements(x, result.dims)), dtypeOf(squares));
  double correction = correctionOf(ctx);
  if (correction != 0)
    count = ctx.binary<MaximumOp>(ctx.binary<SubOp>(count, correction), 0);
  result.variance = ctx.binary<DivOp>(squares, count);
  return result;
}

LogicalResult spread(LowerContext &ctx, bool isDeviation, bool withMean) {
  std::optional<Moments> found = moments(ctx);
  if (!found)
    return failure(); // moments said why
  auto finish = [&](Value value, size_t result) {
    return withoutDims(ctx, ctx.cast(value, ctx.resultDtype(result)), found->dims);
  };
  Value variance = isDeviation ? ctx.unary<SqrtOp>(found->variance) : found->variance;
  Value result = finish(variance, 0);
  return withMean ? ctx.replace({result, finish(found->mean, 1)}) : ctx.replace(result);
}

} // namespace

LogicalResult lowerVar(LowerContext &ctx) { return spread(ctx, false, false); }
LogicalResult lowerStd(LowerContext &ctx) { return spread(ctx, true, false); }
LogicalResult lowerVarMean(LowerContext &ctx) { return spread(ctx, false, true); }
LogicalResult lowerStdMean(LowerContext &ctx) { return spread(ctx, true, true); }

//===------------------------------------------------------------------------------------------===//
// Others
//===------------------------------------------------------------------------------------------===//

Value vectorNorm(LowerContext &ctx, Value x, double p, ArrayRef<int64_t> dims) {
  Value size = magnitude(ctx, x);
  if (std::isinf(p))
    return ctx.reduce(p > 0 ? ReduceKind::Max : ReduceKind::Min, size, dims);
  if (p == 0) {
    Value isThere = ctx.cast(ctx.compare<NeOp>(size, 0), dtypeOf(size));
    return ctx.reduce(ReduceKind::Sum, isThere, dims);
  }
  // A power of a single number could leave the range of its type, and eager does not compute it.
  const bool areSingles = llvm::all_of(dims, [&](int64_t axis) { return shapeOf(x)[static_cast<size_t>(axis)] == 1; });
  if (p == 1 || areSingles)
    return ctx.reduce(ReduceKind::Sum, size, dims);
  if (p == 2) {
    Value squares = ctx.reduce(ReduceKind::Sum, ctx.binary<MulOp>(size, size), dims);
    return ctx.unary<SqrtOp>(squares);
  }
  Value powers = ctx.reduce(ReduceKind::Sum, ctx.binary<PowOp>(size, p), dims);
  return ctx.binary<PowOp>(powers, 1 / p);
}

LogicalResult lowerLogsumexp(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Type dtype = floatType(dtypeOf(x));
  SmallVector<int64_t> dims = reducedAxes(ctx, x);
  Value wide = ctx.cast(x, computeType(dtype));
  if (llvm::is_contained(shapeOf(x), 0)) { // nothing has a largest element
    Value sum = ctx.reduce(ReduceKind::Sum, ctx.unary<ExpOp>(wide), dims);
    return ctx.replace(withoutDims(ctx, ctx.cast(ctx.unary<LogOp>(sum), dtype), dims));
  }
  // Infinite maxima are not subtracted: infinity minus itself would be NaN. Of complex numbers the real part counts.
  Value real = isComplex(dtype) ? realPart(ctx, wide) : wide;
  Value peak = ctx.reduce(ReduceKind::Max, real, dims);
  Value isInfinite = ctx.test<IsinfOp>(peak);
  peak = ctx.cast(ctx.select(isInfinite, ctx.constant(0, dtypeOf(real)), peak), dtypeOf(wide));
  Value powers = ctx.unary<ExpOp>(ctx.binary<SubOp>(wide, peak));
  Value sum = ctx.unary<LogOp>(ctx.reduce(ReduceKind::Sum, powers, dims));
  Value result = ctx.cast(ctx.binary<AddOp>(sum, peak), dtype);
  return ctx.replace(withoutDims(ctx, result, dims));
}

LogicalResult lowerCountNonzero(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  SmallVector<int64_t> dims = reducedAxes(ctx, x);
  Value isThere = ctx.cast(ctx.cast(x, ctx.i1()), ctx.i64());
  return ctx.replace(ctx.dropDims(ctx.reduce(ReduceKind::Sum, isThere, dims), dims));
}

} // namespace ingot::lower
