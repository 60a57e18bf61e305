// Special functions with arguments of their own, and rarer element-wise operators. Those that are one op of the dialect
// need no function: their rows in aten_ops.inc are all.
#include "dialect/SpecialOps.h"
#include "lower/Bounds.h"
#include "lower/Complex.h"
#include "lower/Elementwise.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace ingot::lower {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The number times `x`, where PyTorch's kernels do not round the number to the tensor's type.
Value timesNumber(LowerContext &ctx, Value x, double factor) {
  Type dtype = dtypeOf(x), compute = computeType(dtype);
  return ctx.cast(ctx.binary<MulOp>(ctx.cast(x, compute), factor), dtype);
}

LogicalResult lowerScaled(LowerContext &ctx, double factor) {
  Value x = unaryOperand(ctx, Types::ToFloat);
  return x ? ctx.replace(timesNumber(ctx, x, factor)) : failure();
}

/// Elements equal to `value`; no integer is.
LogicalResult lowerEquals(LowerContext &ctx, double value) {
  Value x = ctx.tensor("self");
  if (isComplex(dtypeOf(x)))
    return ctx.refuse("complex infinities have no sign");
  if (isIntegral(dtypeOf(x)))
    return ctx.replace(ctx.full(Number::of(false), ctx.sizes(x), ctx.i1()));
  return ctx.replace(ctx.compare<EqOp>(x, value));
}

} // namespace

LogicalResult lowerDeg2rad(LowerContext &ctx) { return lowerScaled(ctx, std::numbers::pi / 180); }
LogicalResult lowerRad2deg(LowerContext &ctx) { return lowerScaled(ctx, 180 / std::numbers::pi); }
LogicalResult lowerIsposinf(LowerContext &ctx) { return lowerEquals(ctx, kInfinity); }
LogicalResult lowerIsneginf(LowerContext &ctx) { return lowerEquals(ctx, -kInfinity); }

LogicalResult lowerPolygamma(LowerContext &ctx) {
  Value x = unaryOperand(ctx, Types::ToFloat);
  if (!x)
    return failure(); // unaryOperand said why
  int64_t order = ctx.integer("n");
  if (order < 0)
    return ctx.refuse("the order must not be negative");
  if (order == 0)
    return ctx.replace(ctx.unary<DigammaOp>(x));
  return ctx.replace(ctx.binary<PolygammaOp>(ctx.constant(Number::of(order), dtypeOf(x)), x));
}

/// The sum of lgamma(x - k / 2) for k below p, and p * (p - 1) / 4 * log(pi).
LogicalResult lowerMvlgamma(LowerContext &ctx) {
  Value x = unaryOperand(ctx, Types::ToFloat);
  if (!x)
    return failure(); // unaryOperand said why
  int64_t p = ctx.integer("p");
  if (p < 1 || p > kMaxCopies)
    return ctx.refuse("p must be from 1 to " + llvm::Twine(kMaxCopies));
  Type dtype = dtypeOf(x), compute = computeType(dtype);
  Value sum;
  for (int64_t k = 0; k < p; ++k) {
    Value shifted = k == 0 ? x : ctx.binary<AddOp>(x, -0.5 * static_cast<double>(k));
    Value term = ctx.cast(ctx.unary<LgammaOp>(shifted), compute);
    sum = sum ? ctx.binary<AddOp>(sum, term) : term;
  }
  double constant = static_cast<double>(p * (p - 1)) / 4 * std::log(std::numbers::pi);
  return ctx.replace(ctx.binary<AddOp>(ctx.cast(sum, dtype), constant));
}

/// The area under the normal distribution up to x. float16 and bfloat16 are rounded after every step, as in PyTorch.
LogicalResult lowerNdtr(LowerContext &ctx) {
  Value x = unaryOperand(ctx, Types::ToFloat);
  if (!x)
    return failure(); // unaryOperand said why
  Type dtype = dtypeOf(x), compute = computeType(dtype);
  Value scaled = ctx.cast(ctx.binary<DivOp>(ctx.cast(x, compute), std::numbers::sqrt2), dtype);
  return ctx.replace(ctx.binary<MulOp>(ctx.binary<AddOp>(ctx.unary<ErfOp>(scaled), 1), 0.5));
}

LogicalResult lowerLogit(LowerContext &ctx) {
  Value x = unaryOperand(ctx, Types::ToFloat);
  if (!x)
    return failure(); // unaryOperand said why
  // float16 and bfloat16 are rounded after every step, as in PyTorch.
  Type dtype = dtypeOf(x);
  Value one = ctx.constant(1, dtype);
  if (std::optional<double> eps = ctx.optionalReal("eps"); eps && *eps >= 0) {
    Value low = ctx.constant(*eps, dtype), high = ctx.binary<SubOp>(one, low);
    Value raised = ctx.select(ctx.compare<LtOp>(x, low), low, x);
    x = ctx.select(ctx.compare<GtOp>(raised, high), high, raised);
  }
  Value odds = ctx.binary<DivOp>(x, ctx.binary<SubOp>(one, x));
  return ctx.replace(ctx.unary<LogOp>(odds));
}

/// self * 2^other
LogicalResult lowerLdexp(LowerContext &ctx) {
  Type dtype = ctx.resultDtype(), compute = computeType(dtype);
  Value power = ctx.binary<PowOp>(ctx.constant(2, compute), ctx.as(ctx.operand("other"), compute));
  return ctx.replace(ctx.cast(ctx.binary<MulOp>(ctx.as(ctx.operand("self"), compute), power), dtype));
}

LogicalResult lowerFrexp(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isFloat(dtypeOf(x)))
    return ctx.refuse("PyTorch computes this for floating-point tensors only");
  auto type = tensorType(x).clone(ctx.builder.getI32Type());
  Value exponent = ctx.create<FrexpExponentOp>(type, x).getResult();
  return ctx.replace({ctx.unary<FrexpMantissaOp>(x), exponent});
}

/// The exclusive or of all elements' bits, floats as float64 and integers as int64.
LogicalResult lowerHashTensor(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (ctx.integer("mode") != 0 || isComplex(dtypeOf(x)))
    return ctx.refuse("only mode 0 of real tensors is known");
  SmallVector<int64_t> dims = ctx.axes("dim", rankOf(x));
  x = ctx.cast(x, isIntegral(dtypeOf(x)) ? ctx.i64() : ctx.builder.getF64Type());
  SmallVector<int64_t> shape(shapeOf(x));
  for (int64_t dim : dims)
    shape[dim] = 1;
  auto type = RankedTensorType::get(shape, ctx.resultDtype());
  Value result = ctx.create<HashOp>(type, x, dims).getResult();
  return ctx.replace(ctx.flag("keepdim") ? result : ctx.dropDims(result, dims));
}

//===------------------------------------------------------------------------------------------===//
// Comparisons
//===------------------------------------------------------------------------------------------===//

/// Whether the difference is at most atol + |rtol * other|.
LogicalResult lowerIsclose(LowerContext &ctx) {
  Value a = ctx.tensor("self"), b = ctx.tensor("other");
  double rtol = ctx.real("rtol"), atol = ctx.real("atol");
  if (dtypeOf(a) != dtypeOf(b))
    return ctx.refuse("both tensors must have one type");
  Value close = ctx.compare<EqOp>(a, b);
  if (ctx.flag("equal_nan") && !isIntegral(dtypeOf(a)))
    close = ctx.binary<BitwiseOrOp>(close, ctx.binary<BitwiseAndOp>(ctx.test<IsnanOp>(a), ctx.test<IsnanOp>(b)));
  if (rtol == 0 && atol == 0)
    return ctx.replace(close);
  a = ctx.cast(a, floatType(dtypeOf(a)));
  b = ctx.cast(b, floatType(dtypeOf(b)));
  Value allowed = ctx.binary<AddOp>(magnitude(ctx, timesNumber(ctx, b, rtol)), atol);
  Value gap = magnitude(ctx, ctx.binary<SubOp>(a, b));
  Value isFinite = ctx.compare<LtOp>(gap, kInfinity);
  Value isNear = ctx.binary<BitwiseAndOp>(isFinite, ctx.compare<LeOp>(gap, allowed));
  return ctx.replace(ctx.binary<BitwiseOrOp>(close, isNear));
}

} // namespace ingot::lower
