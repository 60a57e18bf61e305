// Element-wise operators with arguments of their own; those without are in Elementwise.h.
#include "lower/Elementwise.h"

#include "dialect/SpecialOps.h"
#include "lower/Complex.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ingot::lower {

Type promote(LowerContext &ctx, ArrayRef<Operand> operands, Types types) {
  Type dtype = resultType(ctx.builder.getContext(), operands);
  if (!dtype) {
    (void)ctx.refuse("PyTorch has no common type for these operands");
    return {};
  }
  if (isComplex(dtype) && types != Types::Keep && types != Types::ToFloat) {
    (void)ctx.refuse("complex numbers are not supported by this operator");
    return {};
  }
  if (types == Types::FloatsOnly && !isFloat(dtype)) {
    (void)ctx.refuse("PyTorch computes this for floating-point tensors only");
    return {};
  }
  return types == Types::ToFloat ? floatType(dtype) : dtype;
}

Value unaryOperand(LowerContext &ctx, Types types) {
  Value x = ctx.tensor(ctx.has("self") ? "self" : ctx.has("x") ? "x" : "input");
  Type dtype = promote(ctx, {x}, types);
  return dtype ? ctx.cast(x, dtype) : Value();
}

std::optional<Pair> promotePair(LowerContext &ctx, const Operand &a, const Operand &b, Types types) {
  Type dtype = promote(ctx, {a, b}, types);
  if (!dtype)
    return std::nullopt;
  Value left = ctx.as(a, dtype);
  return Pair{left, ctx.as(b, dtype)};
}

bool isOneNumber(const Operand &operand) {
  return !operand.isTensor() || llvm::all_of(shapeOf(operand.tensor), [](int64_t size) { return size == 1; });
}

std::pair<StringRef, StringRef> pairNames(LowerContext &ctx) {
  if (ctx.has("exponent"))
    return {"self", "exponent"};
  if (ctx.has("n"))
    return {"x", "n"};
  if (ctx.has("values"))
    return {"self", "values"};
  return {"self", "other"};
}

//===------------------------------------------------------------------------------------------===//
// Arithmetic
//===------------------------------------------------------------------------------------------===//

namespace {

/// `x` times a factor that is 1 nearly always.
Value scaled(LowerContext &ctx, Value x, const Number &factor) {
  return factor.is(1) ? x : ctx.binary<MulOp>(x, ctx.constant(factor, dtypeOf(x)));
}

} // namespace

template <typename Op> static LogicalResult lowerWithAlpha(LowerContext &ctx, StringRef a, StringRef b) {
  Value result = withAlpha<Op>(ctx, ctx.operand(a), ctx.operand(b), ctx.number("alpha"));
  return result ? ctx.replace(result) : failure();
}

LogicalResult lowerAdd(LowerContext &ctx) { return lowerWithAlpha<AddOp>(ctx, "self", "other"); }
LogicalResult lowerSub(LowerContext &ctx) { return lowerWithAlpha<SubOp>(ctx, "self", "other"); }
LogicalResult lowerRsub(LowerContext &ctx) { return lowerWithAlpha<SubOp>(ctx, "other", "self"); }

template <typename Op> static LogicalResult lowerScaled(LowerContext &ctx, Types types) {
  Value result = scaledBy<Op>(ctx, ctx.operand("self"), ctx.operand("other"), types);
  return result ? ctx.replace(result) : failure();
}

LogicalResult lowerMul(LowerContext &ctx) { return lowerScaled<MulOp>(ctx, Types::Keep); }

/// For float16 and bfloat16, PyTorch rounds the quotient before it cuts it off.
static LogicalResult lowerDivTrunc(LowerContext &ctx) {
  auto pair = promotePair(ctx, ctx.operand("self"), ctx.operand("other"), Types::NoComplex);
  if (!pair)
    return failure(); // promotePair said why
  if (!isReducedFloat(dtypeOf(pair->a)))
    return ctx.replace(ctx.binary<DivTruncOp>(pair->a, pair->b));
  return ctx.replace(ctx.unary<TruncOp>(ctx.binary<DivOp>(pair->a, pair->b)));
}

/// scalar::div_floor with the steps rounded to float16 or bfloat16 one by one, as PyTorch's kernel does for two tensors.
static Value floorOfRounded(LowerContext &ctx, Value a, Value b) {
  Value quotient = ctx.binary<DivOp>(a, b);
  Value rest = ctx.binary<FmodOp>(a, b);
  Value whole = ctx.binary<DivOp>(ctx.binary<SubOp>(a, rest), b);
  Value isNegative = ctx.binary<BitwiseXorOp>(ctx.compare<LtOp>(b, 0), ctx.compare<LtOp>(rest, 0));
  Value isBelow = ctx.binary<BitwiseAndOp>(ctx.compare<NeOp>(rest, 0), isNegative);
  whole = ctx.select(isBelow, ctx.binary<SubOp>(whole, 1), whole);
  Value down = ctx.unary<FloorOp>(whole);
  Value isAbove = ctx.compare<GtOp>(ctx.binary<SubOp>(whole, down), 0.5);
  Value nearest = ctx.select(isAbove, ctx.binary<AddOp>(down, 1), down);
  Value zero = ctx.binary<CopysignOp>(ctx.constant(0, dtypeOf(a)), quotient);
  Value result = ctx.select(ctx.compare<EqOp>(whole, 0), zero, nearest);
  return ctx.select(ctx.compare<EqOp>(b, 0), quotient, result);
}

LogicalResult lowerFloorDivide(LowerContext &ctx) {
  auto pair = promotePair(ctx, ctx.operand("self"), ctx.operand("other"), Types::NoComplex);
  if (!pair)
    return failure(); // promotePair said why
  Type dtype = dtypeOf(pair->a);
  Operand divisor = ctx.operand("other");
  if (isReducedFloat(dtype) && !isOneNumber(divisor))
    return ctx.replace(floorOfRounded(ctx, pair->a, pair->b));
  Type compute = computeType(dtype);
  return ctx.replace(ctx.cast(ctx.binary<DivFloorOp>(ctx.cast(pair->a, compute), ctx.as(divisor, compute)), dtype));
}

LogicalResult lowerDiv(LowerContext &ctx) {
  StringRef rounding = ctx.string("rounding_mode");
  if (rounding.empty())
    return lowerScaled<DivOp>(ctx, Types::ToFloat);
  if (rounding == "trunc")
    return lowerDivTrunc(ctx);
  if (rounding == "floor")
    return lowerFloorDivide(ctx);
  return ctx.refuse("rounding mode '" + rounding + "' is unknown");
}

/// pow(x, 2), so that booleans become integers.
LogicalResult lowerSquare(LowerContext &ctx) {
  Operand self = ctx.operand("self"), two = Number::of(int64_t{2});
  Value x = ctx.as(self, resultType(ctx.builder.getContext(), {self, two}));
  return ctx.replace(ctx.binary<MulOp>(x, x));
}

/// The powers that PyTorch computes by other means than pow; null for all others.
static Value powByConstant(LowerContext &ctx, Value x, double exponent) {
  if (exponent == 0) // of NaN too
    return ctx.full(Number::of(int64_t{1}), ctx.sizes(x), dtypeOf(x));
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return ctx.binary<MulOp>(x, x);
  if (exponent == 3)
    return ctx.binary<MulOp>(ctx.binary<MulOp>(x, x), x);
  if (isIntegral(dtypeOf(x)))
    return {};
  if (exponent == 0.5)
    return ctx.unary<SqrtOp>(x);
  if (exponent == -0.5)
    return ctx.unary<RsqrtOp>(x);
  if (exponent == -1)
    return ctx.unary<ReciprocalOp>(x);
  if (exponent == -2)
    return ctx.unary<ReciprocalOp>(ctx.binary<MulOp>(x, x));
  return {};
}

Value power(LowerContext &ctx, const Operand &base, const Operand &exponent, Type dtype) {
  Value x = ctx.as(base, dtype);
  const Number &number = exponent.number;
  bool isLiteral = !exponent.isTensor() && number.isStatic() && number.imaginary == 0 && !isBool(dtype);
  // Eager takes roots of float16 by pow, which knows roots of -infinity and of -0.
  isLiteral &= !dtype.isF16() || std::abs(number.isStatic() ? number.asDouble() : 0) != 0.5;
  // PyTorch rounds cubes once for float16, and after each product for bfloat16.
  Value wide = dtype.isF16() ? ctx.cast(x, ctx.f32()) : x;
  if (Value result = isLiteral ? powByConstant(ctx, wide, exponent.number.asDouble()) : Value())
    return ctx.cast(result, dtype);
  return ctx.binary<PowOp>(x, ctx.as(exponent, dtype));
}

LogicalResult lowerPow(LowerContext &ctx) {
  Operand base = ctx.operand("self"), exponent = ctx.operand("exponent");
  Type dtype = promote(ctx, {base, exponent});
  return dtype ? ctx.replace(power(ctx, base, exponent, dtype)) : failure();
}

/// In double precision, whatever the operands are.
LogicalResult lowerFloatPower(LowerContext &ctx) {
  return ctx.replace(power(ctx, ctx.operand("self"), ctx.operand("exponent"), ctx.resultDtype()));
}

//===------------------------------------------------------------------------------------------===//
// Choosing
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerClamp(LowerContext &ctx) {
  SmallVector<Operand> operands{ctx.operand("self")};
  bool hasMin = ctx.has("min") && !ctx.isNone("min");
  bool hasMax = ctx.has("max") && !ctx.isNone("max");
  if (hasMin)
    operands.push_back(ctx.operand("min"));
  if (hasMax)
    operands.push_back(ctx.operand("max"));
  Type dtype = promote(ctx, operands, Types::NoComplex);
  if (!dtype)
    return failure(); // promote said why
  Value x = ctx.as(operands.front(), dtype);
  if (hasMin)
    x = ctx.binary<MaximumOp>(x, ctx.as(operands[1], dtype));
  if (hasMax)
    x = ctx.binary<MinimumOp>(x, ctx.as(operands.back(), dtype));
  return ctx.replace(x);
}

LogicalResult lowerWhere(LowerContext &ctx) {
  auto pair = promotePair(ctx, ctx.operand("self"), ctx.operand("other"), Types::Keep);
  if (!pair)
    return failure(); // promotePair said why
  Value condition = ctx.cast(ctx.tensor("condition"), ctx.i1());
  return ctx.replace(ctx.select(condition, pair->a, pair->b));
}

LogicalResult lowerMaskedFill(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Value mask = ctx.cast(ctx.tensor("mask"), ctx.i1());
  Value value = ctx.as(ctx.operand("value"), dtypeOf(x));
  return ctx.replace(ctx.select(mask, value, x));
}

LogicalResult lowerIsnan(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (isIntegral(dtypeOf(x)))
    return ctx.replace(ctx.full(Number::of(false), ctx.sizes(x), ctx.i1()));
  return ctx.replace(ctx.test<IsnanOp>(x));
}

LogicalResult lowerIsinf(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (isIntegral(dtypeOf(x)))
    return ctx.replace(ctx.full(Number::of(false), ctx.sizes(x), ctx.i1()));
  return ctx.replace(ctx.test<IsinfOp>(x));
}

LogicalResult lowerIsfinite(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (isIntegral(dtypeOf(x)))
    return ctx.replace(ctx.full(Number::of(true), ctx.sizes(x), ctx.i1()));
  // NaN is less than nothing, so one comparison tells both.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto isFinite = [&](Value part) { return ctx.compare<LtOp>(ctx.unary<AbsOp>(part), kInfinity); };
  if (isComplex(dtypeOf(x)))
    return ctx.replace(ctx.binary<BitwiseAndOp>(isFinite(realPart(ctx, x)), isFinite(imagPart(ctx, x))));
  return ctx.replace(isFinite(x));
}

static Value nanToNum(LowerContext &ctx, Value x) {
  auto dtype = cast<FloatType>(dtypeOf(x));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double largest = APFloat::getLargest(dtype.getFloatSemantics()).convertToDouble();
  auto orElse = [&](StringRef name, double fallback) {
    return ctx.constant(ctx.optionalReal(name).value_or(fallback), dtype);
  };
  Value result = ctx.select(ctx.test<IsnanOp>(x), orElse("nan", 0), x);
  result = ctx.select(ctx.compare<EqOp>(x, kInfinity), orElse("posinf", largest), result);
  return ctx.select(ctx.compare<EqOp>(x, -kInfinity), orElse("neginf", -largest), result);
}

LogicalResult lowerNanToNum(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (isIntegral(dtypeOf(x)))
    return ctx.replace(x);
  if (!isComplex(dtypeOf(x)))
    return ctx.replace(nanToNum(ctx, x));
  Value real = nanToNum(ctx, realPart(ctx, x));
  return ctx.replace(makeComplex(ctx, real, nanToNum(ctx, imagPart(ctx, x))));
}

//===------------------------------------------------------------------------------------------===//
// Several operations at once: computed in one type, rounded at the end
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerAddcmul(LowerContext &ctx) {
  Operand self = ctx.operand("self"), a = ctx.operand("tensor1"), b = ctx.operand("tensor2");
  Type dtype = promote(ctx, {self, a, b});
  if (!dtype)
    return failure(); // promote said why
  Type compute = computeType(dtype);
  Value product = ctx.binary<MulOp>(scaled(ctx, ctx.as(a, compute), ctx.number("value")), ctx.as(b, compute));
  return ctx.replace(ctx.cast(ctx.binary<AddOp>(ctx.as(self, compute), product), dtype));
}

LogicalResult lowerAddcdiv(LowerContext &ctx) {
  Operand self = ctx.operand("self"), a = ctx.operand("tensor1"), b = ctx.operand("tensor2");
  Type dtype = promote(ctx, {self, a, b}, Types::ToFloat);
  if (!dtype)
    return failure(); // promote said why
  Type compute = computeType(dtype);
  Value quotient = ctx.binary<DivOp>(scaled(ctx, ctx.as(a, compute), ctx.number("value")), ctx.as(b, compute));
  return ctx.replace(ctx.cast(ctx.binary<AddOp>(ctx.as(self, compute), quotient), dtype));
}

Value interpolated(LowerContext &ctx, const Operand &self, const Operand &end, const Operand &by) {
  Type dtype = promote(ctx, {self, end}, Types::ToFloat);
  if (!dtype)
    return {}; // promote said why
  Type compute = computeType(dtype);
  Value from = ctx.as(self, compute), to = ctx.as(end, compute), weight = ctx.as(by, compute);
  Value difference = ctx.binary<SubOp>(to, from);
  // PyTorch starts from the nearer end, so that weights 0 and 1 give the ends exactly.
  Value low = ctx.binary<AddOp>(from, ctx.binary<MulOp>(weight, difference));
  Value rest = ctx.binary<SubOp>(ctx.constant(1, compute), weight);
  Value high = ctx.binary<SubOp>(to, ctx.binary<MulOp>(difference, rest));
  Value isLow = ctx.compare<LtOp>(magnitude(ctx, weight), 0.5);
  return ctx.cast(ctx.select(isLow, low, high), dtype);
}

LogicalResult lowerLerp(LowerContext &ctx) {
  Value result = interpolated(ctx, ctx.operand("self"), ctx.operand("end"), ctx.operand("weight"));
  return result ? ctx.replace(result) : failure();
}

LogicalResult lowerFrac(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  return ctx.replace(ctx.binary<SubOp>(x, ctx.unary<TruncOp>(x)));
}

LogicalResult lowerRoundDecimals(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t decimals = ctx.integer("decimals");
  if (!isFloat(dtypeOf(x)))
    return ctx.refuse("PyTorch rounds integers to decimals in ways of its own");
  Value wide = ctx.cast(x, computeType(dtypeOf(x)));
  double factor = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  Value result;
  if (decimals >= 0)
    result = ctx.binary<DivOp>(ctx.unary<RoundOp>(ctx.binary<MulOp>(wide, factor)), factor);
  else
    result = ctx.binary<MulOp>(ctx.unary<RoundOp>(ctx.binary<DivOp>(wide, factor)), factor);
  return ctx.replace(ctx.cast(result, dtypeOf(x)));
}

} // namespace ingot::lower
