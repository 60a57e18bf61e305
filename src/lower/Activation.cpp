// Activations that the dialect has no op for, or that have arguments.
#include "lower/Elementwise.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// `x` in the type it is computed in, or null after refusing.
Value activationOperand(LowerContext &ctx) {
  Value x = unaryOperand(ctx, Types::FloatsOnly);
  return x ? ctx.cast(x, computeType(dtypeOf(x))) : Value();
}

/// Rounds what was computed to the carrier's type.
LogicalResult finish(LowerContext &ctx, Value result) { return ctx.replace(ctx.cast(result, ctx.resultDtype())); }

/// x > 0 ? x * scale : (exp(x * inputScale) - 1) * alpha * scale
Value elu(LowerContext &ctx, Value x, double alpha, double scale, double inputScale) {
  auto times = [&](Value value, double factor) { return factor == 1 ? value : ctx.binary<MulOp>(value, factor); };
  Value negative = times(ctx.unary<Expm1Op>(times(x, inputScale)), alpha * scale);
  return ctx.select(ctx.compare<GtOp>(x, 0), times(x, scale), negative);
}

} // namespace

LogicalResult lowerGelu(LowerContext &ctx) {
  StringRef approximate = ctx.string("approximate");
  if (approximate == "none")
    return lowerUnary<GeluOp, Types::FloatsOnly>(ctx);
  if (approximate == "tanh")
    return lowerUnary<GeluTanhOp, Types::FloatsOnly>(ctx);
  return ctx.refuse("approximation '" + approximate + "' is unknown");
}

static LogicalResult clampTo(LowerContext &ctx, const Number &low, const Number &high) {
  Value x = ctx.tensor("self");
  Type dtype = dtypeOf(x);
  Value raised = ctx.binary<MaximumOp>(x, ctx.constant(low, dtype));
  return ctx.replace(ctx.binary<MinimumOp>(raised, ctx.constant(high, dtype)));
}

LogicalResult lowerHardtanh(LowerContext &ctx) { return clampTo(ctx, ctx.number("min_val"), ctx.number("max_val")); }

LogicalResult lowerRelu6(LowerContext &ctx) { return clampTo(ctx, Number::of(int64_t{0}), Number::of(int64_t{6})); }

LogicalResult lowerLeakyRelu(LowerContext &ctx) {
  Value x = activationOperand(ctx);
  if (!x)
    return failure(); // activationOperand said why
  Value negative = ctx.binary<MulOp>(x, ctx.real("negative_slope"));
  return finish(ctx, ctx.select(ctx.compare<GtOp>(x, 0), x, negative));
}

LogicalResult lowerPrelu(LowerContext &ctx) {
  Value x = activationOperand(ctx), weight = ctx.tensor("weight");
  if (!x)
    return failure(); // activationOperand said why
  weight = ctx.cast(weight, dtypeOf(x));
  if (rankOf(weight) == 1 && rankOf(x) < 2) // one slope, whatever the shape
    weight = ctx.reshape(weight, Sizes(rankOf(x), Size(1)));
  if (rankOf(weight) == 1 && rankOf(x) > 1) { // one slope a channel
    Sizes shape(rankOf(x) - 1, Size(1));
    shape.front() = ctx.dim(weight, 0);
    weight = ctx.reshape(weight, shape);
  }
  Value isPositive = ctx.compare<GtOp>(x, 0);
  return finish(ctx, ctx.select(isPositive, x, ctx.binary<MulOp>(weight, x)));
}

LogicalResult lowerElu(LowerContext &ctx) {
  Value x = activationOperand(ctx);
  if (!x)
    return failure(); // activationOperand said why
  return finish(ctx, elu(ctx, x, ctx.real("alpha"), ctx.real("scale"), ctx.real("input_scale")));
}

LogicalResult lowerSelu(LowerContext &ctx) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  Value x = activationOperand(ctx);
  return x ? finish(ctx, elu(ctx, x, kAlpha, kScale, 1)) : failure();
}

LogicalResult lowerCelu(LowerContext &ctx) {
  double alpha = ctx.real("alpha");
  if (alpha == 0)
    return ctx.refuse("alpha must not be zero");
  Value x = activationOperand(ctx);
  return x ? finish(ctx, elu(ctx, x, alpha, 1, 1 / alpha)) : failure();
}

LogicalResult lowerSoftplus(LowerContext &ctx) {
  Value x = activationOperand(ctx);
  if (!x)
    return failure(); // activationOperand said why
  double beta = ctx.real("beta");
  Value inner = beta == 1 ? x : ctx.binary<MulOp>(x, beta);
  Value soft = ctx.unary<Log1pOp>(ctx.unary<ExpOp>(inner));
  if (beta != 1)
    soft = ctx.binary<DivOp>(soft, beta);
  return finish(ctx, ctx.select(ctx.compare<GtOp>(inner, ctx.real("threshold")), x, soft));
}

LogicalResult lowerLogSigmoid(LowerContext &ctx) {
  Value x = activationOperand(ctx);
  if (!x)
    return failure(); // activationOperand said why
  // min(x, 0) - log1p(exp(-|x|)) overflows nowhere.
  Value decay = ctx.unary<ExpOp>(ctx.unary<NegOp>(ctx.unary<AbsOp>(x)));
  Value result = ctx.binary<SubOp>(ctx.binary<MinimumOp>(x, 0), ctx.unary<Log1pOp>(decay));
  SmallVector<Value> results(ctx.numResults()); // the buffer of log_sigmoid_forward is for training
  results.front() = ctx.cast(result, ctx.resultDtype());
  return ctx.replace(results);
}

LogicalResult lowerHardshrink(LowerContext &ctx) {
  Value x = unaryOperand(ctx, Types::FloatsOnly);
  if (!x)
    return failure(); // unaryOperand said why
  Value inside = ctx.compare<LeOp>(ctx.unary<AbsOp>(x), ctx.real("lambd"));
  return ctx.replace(ctx.select(inside, ctx.constant(0, dtypeOf(x)), x));
}

LogicalResult lowerSoftshrink(LowerContext &ctx) {
  Value x = activationOperand(ctx);
  if (!x)
    return failure(); // activationOperand said why
  double lambda = ctx.real("lambd");
  Value zero = ctx.binary<MulOp>(x, 0); // keeps NaN
  Value low = ctx.select(ctx.compare<LtOp>(x, -lambda), ctx.binary<AddOp>(x, lambda), zero);
  Value high = ctx.select(ctx.compare<GtOp>(x, lambda), ctx.binary<SubOp>(x, lambda), low);
  return finish(ctx, high);
}

LogicalResult lowerThreshold(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Type dtype = dtypeOf(x);
  Value isLow = ctx.compare<LeOp>(x, ctx.constant(ctx.number("threshold"), dtype));
  return ctx.replace(ctx.select(isLow, ctx.constant(ctx.number("value"), dtype), x));
}

LogicalResult lowerGlu(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (rankOf(x) == 0)
    return ctx.refuse("a zero-dimensional tensor has no halves");
  int64_t axis = ctx.axis("dim", rankOf(x));
  Size whole = ctx.dim(x, axis), half = ctx.floorDiv(whole, 2);
  Value gate = ctx.slice(x, axis, half, whole);
  return ctx.replace(ctx.binary<MulOp>(ctx.slice(x, axis, 0, half), ctx.unary<SigmoidOp>(gate)));
}

} // namespace ingot::lower
