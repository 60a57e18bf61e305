// Gradients of activations, for programs that were exported with their backward pass. Computed in float32 for float16
// and bfloat16, and rounded at the end.
#include "lower/Elementwise.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace ingot::lower {

namespace {

/// The gradient and what the activation was given (or gave), in the type of computation.
struct Gradient {
  LowerContext &ctx;
  Type compute;
  Value grad, x;

  Gradient(LowerContext &ctx, StringRef xName, StringRef gradName = "grad_output")
      : ctx(ctx), compute(computeType(ctx.resultDtype())), grad(ctx.cast(ctx.tensor(gradName), compute)),
        x(ctx.cast(ctx.tensor(xName), compute)) {}

  Value number(double value) { return ctx.constant(value, compute); }
  Value times(Value a, Value b) { return ctx.binary<MulOp>(a, b); }
  Value plus(Value a, Value b) { return ctx.binary<AddOp>(a, b); }
  Value minus(Value a, Value b) { return ctx.binary<SubOp>(a, b); }
  Value zero() { return number(0); }

  LogicalResult finish(Value result) { return ctx.replace(ctx.cast(result, ctx.resultDtype())); }
};

} // namespace

LogicalResult lowerTanhBackward(LowerContext &ctx) {
  Gradient g(ctx, "output");
  return g.finish(g.times(g.grad, g.minus(g.number(1), g.times(g.x, g.x))));
}

LogicalResult lowerSigmoidBackward(LowerContext &ctx) {
  Gradient g(ctx, "output");
  return g.finish(g.times(g.times(g.grad, g.minus(g.number(1), g.x)), g.x));
}

LogicalResult lowerThresholdBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  return g.finish(
      ctx.select(ctx.compare<LeOp>(g.x, ctx.constant(ctx.number("threshold"), g.compute)), g.zero(), g.grad));
}

LogicalResult lowerSiluBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  Value sigmoid = ctx.unary<SigmoidOp>(g.x), one = g.number(1);
  Value slope = g.plus(one, g.times(g.x, g.minus(one, sigmoid)));
  return g.finish(g.times(g.times(g.grad, sigmoid), slope));
}

LogicalResult lowerMishBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  Value sigmoid = ctx.unary<SigmoidOp>(g.x);
  Value inner = ctx.unary<TanhOp>(ctx.unary<Log1pOp>(ctx.unary<ExpOp>(g.x)));
  Value rest = g.times(g.times(g.x, sigmoid), g.minus(g.number(1), g.times(inner, inner)));
  return g.finish(g.times(g.grad, g.plus(inner, rest)));
}

LogicalResult lowerGeluBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  Value half = g.number(0.5), one = g.number(1), square = g.times(g.x, g.x);
  if (ctx.string("approximate") == "tanh") {
    constexpr double kBeta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kKappa = 0.044715;
    Value inner = g.times(g.number(kBeta), g.plus(g.x, g.times(g.number(kKappa), g.times(square, g.x))));
    Value tanh = ctx.unary<TanhOp>(inner);
    Value slope = g.times(g.number(kBeta), g.plus(one, g.times(g.number(3 * kKappa), square)));
    Value left = g.times(half, g.plus(one, tanh));
    Value right = g.times(g.times(half, g.x), g.times(g.minus(one, g.times(tanh, tanh)), slope));
    return g.finish(g.times(g.grad, g.plus(left, right)));
  }
  Value area = g.times(half, g.plus(one, ctx.unary<ErfOp>(g.times(g.x, g.number(std::numbers::sqrt2 / 2)))));
  Value density = g.times(ctx.unary<ExpOp>(g.times(square, g.number(-0.5))),
                          g.number(std::numbers::sqrt2 / 2 * std::numbers::inv_sqrtpi));
  return g.finish(g.times(g.grad, g.plus(area, g.times(g.x, density))));
}

LogicalResult lowerEluBackward(LowerContext &ctx) {
  Gradient g(ctx, "self_or_result");
  double alpha = ctx.real("alpha"), scale = ctx.real("scale"), inputScale = ctx.real("input_scale");
  Value inside;
  if (ctx.flag("is_result"))
    inside = g.times(g.times(g.grad, g.number(inputScale)), g.plus(g.x, g.number(alpha * scale)));
  else
    inside = g.times(g.times(g.grad, g.number(inputScale * alpha * scale)),
                     ctx.unary<ExpOp>(g.times(g.x, g.number(inputScale))));
  Value outside = g.times(g.grad, g.number(scale));
  return g.finish(ctx.select(ctx.compare<LeOp>(g.x, 0), inside, outside));
}

LogicalResult lowerLeakyReluBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  Value scaled = g.times(g.grad, g.number(ctx.real("negative_slope")));
  return g.finish(ctx.select(ctx.compare<GtOp>(g.x, 0), g.grad, scaled));
}

LogicalResult lowerSoftplusBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  double beta = ctx.real("beta");
  Value scaled = g.times(g.x, g.number(beta)), power = ctx.unary<ExpOp>(scaled);
  Value inside = ctx.binary<DivOp>(g.times(g.grad, power), g.plus(power, g.number(1)));
  return g.finish(ctx.select(ctx.compare<GtOp>(scaled, ctx.real("threshold")), g.grad, inside));
}

/// Of softshrink and hardshrink: 0 between -lambd and lambd.
LogicalResult lowerShrinkBackward(LowerContext &ctx) {
  Gradient g(ctx, "self", ctx.has("grad_out") ? "grad_out" : "grad_output");
  double lambda = ctx.real("lambd");
  Value inside = ctx.binary<BitwiseAndOp>(ctx.compare<GeOp>(g.x, -lambda), ctx.compare<LeOp>(g.x, lambda));
  return g.finish(ctx.select(inside, g.zero(), g.grad));
}

LogicalResult lowerHardtanhBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  Value isOut = ctx.binary<BitwiseOrOp>(ctx.compare<LeOp>(g.x, ctx.constant(ctx.number("min_val"), g.compute)),
                                        ctx.compare<GeOp>(g.x, ctx.constant(ctx.number("max_val"), g.compute)));
  return g.finish(ctx.select(isOut, g.zero(), g.grad));
}

LogicalResult lowerHardsigmoidBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  Value inside = ctx.binary<BitwiseAndOp>(ctx.compare<GtOp>(g.x, -3.0), ctx.compare<LtOp>(g.x, 3.0));
  return g.finish(ctx.select(inside, g.times(g.grad, g.number(1.0 / 6)), g.zero()));
}

LogicalResult lowerHardswishBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  Value slope = g.plus(ctx.binary<DivOp>(g.x, g.number(3)), g.number(0.5));
  Value middle = ctx.select(ctx.compare<LtOp>(g.x, 3.0), g.times(g.grad, slope), g.grad);
  return g.finish(ctx.select(ctx.compare<LeOp>(g.x, -3.0), g.zero(), middle));
}

LogicalResult lowerLogSigmoidBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  // 1 - sigmoid(x) is sigmoid(-x).
  return g.finish(g.times(g.grad, ctx.unary<SigmoidOp>(ctx.unary<NegOp>(g.x))));
}

LogicalResult lowerLogitBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  Value one = g.number(1);
  double eps = ctx.optionalReal("eps").value_or(-1);
  Value slope = ctx.binary<DivOp>(g.grad, g.times(g.x, g.minus(one, g.x)));
  Value low = g.number(eps < 0 ? 0 : eps), high = eps < 0 ? one : g.minus(one, low);
  Value isOut = ctx.binary<BitwiseOrOp>(ctx.compare<LtOp>(g.x, low), ctx.compare<GtOp>(g.x, high));
  return g.finish(ctx.select(isOut, g.number(eps < 0 ? std::numeric_limits<double>::quiet_NaN() : 0), slope));
}

LogicalResult lowerGluBackward(LowerContext &ctx) {
  Gradient g(ctx, "self");
  if (rankOf(g.x) == 0)
    return ctx.refuse("a zero-dimensional tensor has no halves");
  int64_t axis = ctx.axis("dim", rankOf(g.x));
  Size whole = ctx.dim(g.x, axis), half = ctx.floorDiv(whole, 2);
  Value first = ctx.slice(g.x, axis, 0, half), gate = ctx.unary<SigmoidOp>(ctx.slice(g.x, axis, half, whole));
  Value slope = g.times(g.minus(g.number(1), gate), gate);
  return g.finish(ctx.concat({g.times(g.grad, gate), g.times(g.times(slope, first), g.grad)}, axis));
}

} // namespace ingot::lower
