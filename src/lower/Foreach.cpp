// The `_foreach_` operators: one element-wise operator on every tensor of a list, as their single forms compute it.
#include "lower/Complex.h"
#include "lower/Elementwise.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// A literal or symbolic number, or a tensor, of a list argument.
Operand operandOf(LowerContext &ctx, Attribute attr) {
  if (auto ref = dyn_cast<ValueRefAttr>(attr)) {
    Value value = ctx.op->getOperand(ref.getIndex());
    return isa<RankedTensorType>(value.getType()) ? Operand(value) : Operand(Number::of(value));
  }
  if (auto complex = complexOf(attr))
    return Number::of(*complex);
  if (auto real = dyn_cast<FloatAttr>(attr))
    return Number::of(real.getValueAsDouble());
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return Number::of(boolean.getValue());
  return Number::of(cast<IntegerAttr>(attr).getValue().getSExtValue());
}

/// The argument's entry for each tensor: a list has its own, anything else is the same for all.
SmallVector<Operand> operandsOf(LowerContext &ctx, StringRef name, size_t count) {
  Attribute attr = ctx.attr(name);
  SmallVector<Operand> operands;
  auto list = dyn_cast<ArrayAttr>(attr);
  if (list && list.size() != count)
    (void)ctx.refuse("argument `" + name + "` has " + Twine(list.size()) + " entries, not " + Twine(count));
  bool fits = list && list.size() == count;
  for (size_t i = 0; i < count; ++i)
    operands.push_back(list && !fits ? Operand(Number::of(int64_t{0})) : operandOf(ctx, fits ? list[i] : attr));
  return operands;
}

/// The name of the second argument among those that overloads give it.
StringRef secondName(LowerContext &ctx) {
  for (StringRef name : {"other", "scalar", "scalars", "exponent"})
    if (ctx.has(name))
      return name;
  return "other";
}

using Combine = llvm::function_ref<Value(Operand, Operand)>;

/// combine(a, b) for every pair; it gives null after refusing.
LogicalResult forEachPair(LowerContext &ctx, Combine combine) {
  SmallVector<Operand> seconds = operandsOf(ctx, secondName(ctx), ctx.numResults());
  SmallVector<Operand> firsts = operandsOf(ctx, "self", ctx.numResults());
  SmallVector<Value> results;
  for (auto [a, b] : llvm::zip_equal(firsts, seconds)) {
    if (ctx.isRefused())
      return failure();
    results.push_back(combine(a, b));
    if (!results.back())
      return failure(); // combine said why
  }
  return ctx.replace(results);
}

/// self + value * op(tensor1, tensor2)
template <typename Op> LogicalResult addCombination(LowerContext &ctx) {
  size_t count = ctx.numResults();
  SmallVector<Operand> selves = operandsOf(ctx, "self", count), as = operandsOf(ctx, "tensor1", count);
  SmallVector<Operand> bs = operandsOf(ctx, "tensor2", count);
  SmallVector<Operand> factors = operandsOf(ctx, ctx.has("value") ? "value" : "scalars", count);
  SmallVector<Value> results;
  for (size_t i = 0; i < count && !ctx.isRefused(); ++i) {
    Type dtype = promote(ctx, {selves[i], as[i], bs[i]});
    if (!dtype)
      return failure(); // promote said why
    Type compute = computeType(dtype);
    Value a = ctx.as(as[i], compute);
    Value scaled = factors[i].number.is(1) ? a : ctx.binary<MulOp>(a, ctx.as(factors[i], compute));
    Value sum = ctx.binary<AddOp>(ctx.as(selves[i], compute), ctx.binary<Op>(scaled, ctx.as(bs[i], compute)));
    results.push_back(ctx.cast(sum, dtype));
  }
  return ctx.isRefused() ? failure() : ctx.replace(results);
}

template <typename Op> LogicalResult sumOrDifference(LowerContext &ctx) {
  Number alpha = ctx.has("alpha") ? ctx.number("alpha") : Number::of(int64_t{1});
  return forEachPair(ctx, [&](const Operand &a, const Operand &b) { return withAlpha<Op>(ctx, a, b, alpha); });
}

} // namespace

LogicalResult lowerForeachAbs(LowerContext &ctx) {
  SmallVector<Value> results;
  for (Value x : ctx.tensors("self"))
    results.push_back(magnitude(ctx, x));
  return ctx.replace(results);
}

LogicalResult lowerForeachClone(LowerContext &ctx) { return ctx.replace(ctx.tensors("self")); }

LogicalResult lowerForeachZero(LowerContext &ctx) {
  SmallVector<Value> results;
  for (Value x : ctx.tensors("self"))
    results.push_back(ctx.full(Number::of(int64_t{0}), ctx.sizes(x), dtypeOf(x)));
  return ctx.replace(results);
}

LogicalResult lowerForeachFrac(LowerContext &ctx) {
  SmallVector<Value> results;
  for (Value x : ctx.tensors("self"))
    results.push_back(ctx.binary<SubOp>(x, ctx.unary<TruncOp>(x)));
  return ctx.replace(results);
}

LogicalResult lowerForeachAdd(LowerContext &ctx) { return sumOrDifference<AddOp>(ctx); }
LogicalResult lowerForeachSub(LowerContext &ctx) { return sumOrDifference<SubOp>(ctx); }

LogicalResult lowerForeachMul(LowerContext &ctx) {
  return forEachPair(ctx, [&](const Operand &a, const Operand &b) { return scaledBy<MulOp>(ctx, a, b, Types::Keep); });
}

LogicalResult lowerForeachDiv(LowerContext &ctx) {
  return forEachPair(ctx,
                     [&](const Operand &a, const Operand &b) { return scaledBy<DivOp>(ctx, a, b, Types::ToFloat); });
}

template <typename Op> static LogicalResult lowerForeachExtreme(LowerContext &ctx) {
  return forEachPair(ctx, [&](const Operand &a, const Operand &b) {
    auto pair = promotePair(ctx, a, b, Types::NoComplex);
    return pair ? ctx.binary<Op>(pair->a, pair->b) : Value();
  });
}

LogicalResult lowerForeachMaximum(LowerContext &ctx) { return lowerForeachExtreme<MaximumOp>(ctx); }
LogicalResult lowerForeachMinimum(LowerContext &ctx) { return lowerForeachExtreme<MinimumOp>(ctx); }

LogicalResult lowerForeachPow(LowerContext &ctx) {
  return forEachPair(ctx, [&](const Operand &a, const Operand &b) {
    Type dtype = promote(ctx, {a, b});
    return dtype ? power(ctx, a, b, dtype) : Value();
  });
}

LogicalResult lowerForeachAddcmul(LowerContext &ctx) { return addCombination<MulOp>(ctx); }
LogicalResult lowerForeachAddcdiv(LowerContext &ctx) { return addCombination<DivOp>(ctx); }

LogicalResult lowerForeachLerp(LowerContext &ctx) {
  size_t count = ctx.numResults();
  SmallVector<Operand> selves = operandsOf(ctx, "self", count), ends = operandsOf(ctx, "tensors1", count);
  SmallVector<Operand> weights = operandsOf(ctx, ctx.has("weights") ? "weights" : "weight", count);
  SmallVector<Value> results;
  for (size_t i = 0; i < count && !ctx.isRefused(); ++i) {
    results.push_back(interpolated(ctx, selves[i], ends[i], weights[i]));
    if (!results.back())
      return failure(); // interpolated said why
  }
  return ctx.isRefused() ? failure() : ctx.replace(results);
}

} // namespace ingot::lower
