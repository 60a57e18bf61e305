// Losses of single elements and of pairs of vectors. Each is rounded to its type before it is averaged, as in PyTorch.
#include "lower/Loss.h"

#include "lower/Complex.h"

#include <numbers>

using namespace mlir;

namespace ingot::lower {

Value reduceLoss(LowerContext &ctx, Value loss, Type dtype) {
  int64_t reduction = ctx.integer("reduction");
  loss = ctx.cast(loss, dtype);
  if (reduction == kNoReduction)
    return loss;
  SmallVector<int64_t> all = axisRange(0, rankOf(loss));
  Value wide = ctx.cast(loss, computeType(dtype));
  Value total =
      reduction == kMeanReduction && !all.empty() ? ctx.mean(wide, all) : ctx.reduce(ReduceKind::Sum, wide, all);
  return ctx.cast(ctx.reshape(total, {}), dtype);
}

Value atLeastZero(LowerContext &ctx, Value x) { return ctx.binary<MaximumOp>(x, 0); }

Value logSigmoid(LowerContext &ctx, Value x) {
  Value tail = ctx.unary<Log1pOp>(ctx.unary<ExpOp>(ctx.unary<NegOp>(ctx.unary<AbsOp>(x))));
  return ctx.binary<SubOp>(ctx.binary<MinimumOp>(x, 0), tail);
}

namespace {

using PairLoss = llvm::function_ref<Value(Value, Value)>;

/// A loss of two tensors element by element, in the type of computation.
LogicalResult pairLoss(LowerContext &ctx, PairLoss loss) {
  auto pair = promotePair(ctx, ctx.operand("self"), ctx.operand("target"), Types::NoComplex);
  if (!pair)
    return failure(); // promotePair said why
  Type dtype = dtypeOf(pair->a), compute = computeType(dtype);
  Value a = ctx.cast(pair->a, compute);
  return ctx.replace(reduceLoss(ctx, loss(a, ctx.cast(pair->b, compute)), dtype));
}

Value distance(LowerContext &ctx, Value a, Value b) { return ctx.unary<AbsOp>(ctx.binary<SubOp>(a, b)); }

Value halfSquare(LowerContext &ctx, Value x) { return ctx.binary<MulOp>(ctx.binary<MulOp>(x, 0.5), x); }

} // namespace

/// 16-bit differences are rounded before they are squared.
LogicalResult lowerMseLoss(LowerContext &ctx) {
  return pairLoss(ctx, [&](Value a, Value b) {
    Value difference = ctx.binary<SubOp>(a, b);
    difference = ctx.cast(ctx.cast(difference, ctx.resultDtype()), dtypeOf(a));
    return ctx.binary<MulOp>(difference, difference);
  });
}

LogicalResult lowerL1Loss(LowerContext &ctx) {
  auto pair = promotePair(ctx, ctx.operand("self"), ctx.operand("target"), Types::Keep);
  if (!pair)
    return failure(); // promotePair said why
  if (isComplex(dtypeOf(pair->a))) {
    Value apart = magnitude(ctx, ctx.binary<SubOp>(pair->a, pair->b));
    return ctx.replace(reduceLoss(ctx, apart, dtypeOf(apart)));
  }
  return pairLoss(ctx, [&](Value a, Value b) { return distance(ctx, a, b); });
}

LogicalResult lowerSmoothL1Loss(LowerContext &ctx) {
  double beta = ctx.real("beta");
  return pairLoss(ctx, [&](Value a, Value b) {
    Value far = distance(ctx, a, b);
    Value near = ctx.binary<DivOp>(halfSquare(ctx, far), beta);
    return ctx.select(ctx.compare<LtOp>(far, beta), near, ctx.binary<SubOp>(far, 0.5 * beta));
  });
}

LogicalResult lowerHuberLoss(LowerContext &ctx) {
  double delta = ctx.real("delta");
  return pairLoss(ctx, [&](Value a, Value b) {
    Value far = distance(ctx, a, b);
    Value line = ctx.binary<MulOp>(ctx.binary<SubOp>(far, 0.5 * delta), delta);
    return ctx.select(ctx.compare<LeOp>(far, delta), halfSquare(ctx, far), line);
  });
}

/// In the operands' own type at every step: PyTorch's exponentials of float16 overflow, too.
LogicalResult lowerSoftMarginLoss(LowerContext &ctx) {
  auto pair = promotePair(ctx, ctx.operand("self"), ctx.operand("target"), Types::FloatsOnly);
  if (!pair)
    return failure(); // promotePair said why
  Value power = ctx.unary<ExpOp>(ctx.binary<MulOp>(ctx.unary<NegOp>(pair->b), pair->a));
  return ctx.replace(reduceLoss(ctx, ctx.unary<Log1pOp>(power), dtypeOf(power)));
}

LogicalResult lowerKlDiv(LowerContext &ctx) {
  bool isLog = ctx.flag("log_target");
  return pairLoss(ctx, [&](Value x, Value target) {
    if (isLog)
      return ctx.binary<MulOp>(ctx.unary<ExpOp>(target), ctx.binary<SubOp>(target, x));
    // 0 log 0 is 0.
    Value entropy = ctx.binary<MulOp>(target, ctx.unary<LogOp>(target));
    entropy = ctx.select(ctx.compare<EqOp>(target, 0), ctx.constant(0, dtypeOf(x)), entropy);
    return ctx.binary<SubOp>(entropy, ctx.binary<MulOp>(target, x));
  });
}

/// PyTorch computes it op by op, so that 16-bit floats are rounded after each.
LogicalResult lowerPoissonNllLoss(LowerContext &ctx) {
  Value x = ctx.tensor("input"), target = ctx.tensor("target");
  auto pair = promotePair(ctx, x, target, Types::ToFloat);
  if (!pair || !isFloat(dtypeOf(pair->a)))
    return ctx.refuse("needs real operands");
  Type dtype = dtypeOf(pair->a);
  x = pair->a;
  target = pair->b;
  Value loss;
  if (ctx.flag("log_input"))
    loss = ctx.binary<SubOp>(ctx.unary<ExpOp>(x), ctx.binary<MulOp>(target, x));
  else
    loss = ctx.binary<SubOp>(x, ctx.binary<MulOp>(target, ctx.unary<LogOp>(ctx.binary<AddOp>(x, ctx.real("eps")))));
  if (ctx.flag("full")) { // Stirling's formula for log(target!)
    Value half = ctx.unary<LogOp>(scaledBy<MulOp>(ctx, target, Number::of(2 * std::numbers::pi), Types::Keep));
    Value formula = ctx.binary<SubOp>(ctx.binary<MulOp>(target, ctx.unary<LogOp>(target)), target);
    formula = ctx.binary<AddOp>(formula, ctx.binary<MulOp>(half, 0.5));
    Value isSmall = ctx.compare<LeOp>(target, 1);
    loss = ctx.binary<AddOp>(loss, ctx.select(isSmall, ctx.constant(0, dtype), formula));
  }
  return ctx.replace(reduceLoss(ctx, loss, dtype));
}

//===------------------------------------------------------------------------------------------===//
// Binary cross entropy
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerBinaryCrossEntropy(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Type dtype = dtypeOf(x), compute = computeType(dtype);
  if (!isFloat(dtype))
    return ctx.refuse("needs floating-point numbers");
  x = ctx.cast(x, compute);
  Value target = ctx.cast(ctx.tensor("target"), compute);
  auto boundedLog = [&](Value log) { return ctx.binary<MaximumOp>(log, -100); };
  Value low = ctx.binary<MulOp>(ctx.binary<SubOp>(target, 1), boundedLog(ctx.unary<Log1pOp>(ctx.unary<NegOp>(x))));
  Value loss = ctx.binary<SubOp>(low, ctx.binary<MulOp>(target, boundedLog(ctx.unary<LogOp>(x))));
  if (Value weight = ctx.optionalTensor("weight"))
    loss = ctx.binary<MulOp>(loss, ctx.cast(weight, compute));
  return ctx.replace(reduceLoss(ctx, loss, dtype));
}

/// PyTorch computes it op by op, so that 16-bit floats are rounded after each.
LogicalResult lowerBinaryCrossEntropyWithLogits(LowerContext &ctx) {
  Type dtype = ctx.resultDtype();
  if (!isFloat(dtype))
    return ctx.refuse("needs floating-point numbers");
  Value x = ctx.cast(ctx.tensor("self"), dtype), target = ctx.cast(ctx.tensor("target"), dtype);
  Value logs = ctx.cast(logSigmoid(ctx, ctx.cast(x, computeType(dtype))), dtype);
  if (Value positive = ctx.optionalTensor("pos_weight")) {
    Value factor = ctx.binary<MulOp>(ctx.binary<SubOp>(ctx.cast(positive, dtype), 1), target);
    logs = ctx.binary<MulOp>(ctx.binary<AddOp>(factor, 1), logs);
  }
  Value rest = ctx.binary<SubOp>(ctx.constant(1, dtype), target);
  Value loss = ctx.binary<SubOp>(ctx.binary<MulOp>(rest, x), logs);
  if (Value weight = ctx.optionalTensor("weight"))
    loss = ctx.binary<MulOp>(loss, ctx.cast(weight, dtype));
  return ctx.replace(reduceLoss(ctx, loss, dtype));
}

//===------------------------------------------------------------------------------------------===//
// Embeddings, ranks and triplets
//===------------------------------------------------------------------------------------------===//

namespace {

/// Tensors in the type of computation of the result, from one that need not be floating point.
struct Operands {
  Type dtype, compute;
  SmallVector<Value> values;

  Value operator[](size_t i) const { return values[i]; }
};

std::optional<Operands> wideOperands(LowerContext &ctx, ArrayRef<StringRef> names) {
  Operands result;
  SmallVector<Operand> operands;
  for (StringRef name : names)
    operands.push_back(ctx.operand(name));
  result.dtype = promote(ctx, operands, Types::NoComplex);
  if (!result.dtype)
    return std::nullopt; // promote said why
  result.compute = computeType(result.dtype);
  for (const Operand &operand : operands)
    result.values.push_back(ctx.as(operand, result.compute));
  return result;
}

Value where(LowerContext &ctx, Value condition, Value x) {
  return ctx.select(condition, x, ctx.constant(0, dtypeOf(x)));
}

} // namespace

LogicalResult lowerHingeEmbeddingLoss(LowerContext &ctx) {
  auto wide = wideOperands(ctx, {"self"});
  if (!wide)
    return failure(); // wideOperands said why
  Value x = (*wide)[0], target = ctx.tensor("target");
  Value apart = atLeastZero(ctx, ctx.binary<SubOp>(ctx.constant(ctx.number("margin"), wide->compute), x));
  apart = where(ctx, ctx.compare<NeOp>(target, 1), apart);
  Value together = where(ctx, ctx.compare<NeOp>(target, -1), x);
  return ctx.replace(reduceLoss(ctx, ctx.binary<AddOp>(apart, together), ctx.resultDtype()));
}

LogicalResult lowerMarginRankingLoss(LowerContext &ctx) {
  auto wide = wideOperands(ctx, {"input1", "input2", "target"});
  if (!wide)
    return failure(); // wideOperands said why
  Value difference = ctx.binary<SubOp>((*wide)[0], (*wide)[1]);
  Value score = ctx.binary<MulOp>(ctx.unary<NegOp>((*wide)[2]), difference);
  Type compute = floatType(dtypeOf(score)); // the margin is a float
  score = ctx.binary<AddOp>(ctx.cast(score, compute), ctx.constant(ctx.number("margin"), compute));
  return ctx.replace(reduceLoss(ctx, atLeastZero(ctx, score), ctx.resultDtype()));
}

LogicalResult lowerCosineEmbeddingLoss(LowerContext &ctx) {
  Value target = ctx.tensor("target");
  Type dtype = ctx.resultDtype(), compute = computeType(dtype);
  if (!isFloat(dtype))
    return ctx.refuse("needs a floating-point result");
  Value a = ctx.cast(ctx.tensor("input1"), compute), b = ctx.cast(ctx.tensor("input2"), compute);
  int64_t axis = rankOf(target);
  if (axis >= rankOf(a) || axis >= rankOf(b))
    return ctx.refuse("the target has more dimensions than the vectors allow");
  auto inner = [&](Value left, Value right) {
    return ctx.dropDims(ctx.reduce(ReduceKind::Sum, ctx.binary<MulOp>(left, right), axis), axis);
  };
  constexpr double kTiny = 1e-12;
  Value squares = ctx.binary<MulOp>(ctx.binary<AddOp>(inner(a, a), kTiny), ctx.binary<AddOp>(inner(b, b), kTiny));
  Value cosine = ctx.binary<DivOp>(inner(a, b), ctx.unary<SqrtOp>(squares));
  Value together = ctx.binary<SubOp>(ctx.constant(1, compute), cosine);
  Value apart = atLeastZero(ctx, ctx.binary<SubOp>(cosine, ctx.real("margin")));
  Value loss = ctx.binary<AddOp>(where(ctx, ctx.compare<EqOp>(target, 1), together),
                                 where(ctx, ctx.compare<EqOp>(target, -1), apart));
  return ctx.replace(reduceLoss(ctx, loss, dtype));
}

namespace {

/// ‖a - b + eps‖ₚ over the last dimension. The difference has the operands' type: that of bytes wraps.
Value pairDistance(LowerContext &ctx, const Pair &vectors, Type dtype, double p, double eps) {
  Value apart = ctx.binary<AddOp>(ctx.cast(ctx.binary<SubOp>(vectors.a, vectors.b), dtype), eps);
  Value difference = ctx.unary<AbsOp>(ctx.cast(apart, computeType(dtype)));
  int64_t last = rankOf(difference) - 1;
  auto reduced = [&](ReduceKind kind, Value x) { return ctx.dropDims(ctx.reduce(kind, x, last), last); };
  if (std::isinf(p))
    return reduced(p > 0 ? ReduceKind::Max : ReduceKind::Min, difference);
  if (p == 0)
    return reduced(ReduceKind::Sum, ctx.cast(ctx.compare<NeOp>(difference, 0), dtypeOf(difference)));
  if (p == 1)
    return reduced(ReduceKind::Sum, difference);
  if (p == 2)
    return ctx.unary<SqrtOp>(reduced(ReduceKind::Sum, ctx.binary<MulOp>(difference, difference)));
  return ctx.binary<PowOp>(reduced(ReduceKind::Sum, ctx.binary<PowOp>(difference, p)), 1 / p);
}

} // namespace

LogicalResult lowerTripletMarginLoss(LowerContext &ctx) {
  Type dtype = ctx.resultDtype(), compute = computeType(dtype);
  if (!isFloat(dtype))
    return ctx.refuse("needs floating-point vectors");
  Value anchor = ctx.tensor("anchor"), positive = ctx.tensor("positive"), negative = ctx.tensor("negative");
  if (rankOf(anchor) == 0 || rankOf(positive) == 0 || rankOf(negative) == 0)
    return ctx.refuse("zero-dimensional tensors are no vectors");
  if (isComplex(dtypeOf(anchor)) || isComplex(dtypeOf(positive)) || isComplex(dtypeOf(negative)))
    return ctx.refuse("complex vectors are not supported");
  double p = ctx.real("p"), eps = ctx.real("eps");
  auto distanceOf = [&](Value a, Value b) { // rounded where PyTorch rounds
    auto pair = promotePair(ctx, a, b, Types::NoComplex);
    Pair vectors = pair ? *pair : Pair{a, a}; // promotePair has refused
    return ctx.cast(ctx.cast(pairDistance(ctx, vectors, dtype, p, eps), dtype), compute);
  };
  Value near = distanceOf(anchor, positive), far = distanceOf(anchor, negative);
  if (ctx.flag("swap"))
    far = ctx.binary<MinimumOp>(far, distanceOf(positive, negative));
  Value score = ctx.binary<SubOp>(ctx.binary<AddOp>(near, ctx.real("margin")), far);
  return ctx.replace(reduceLoss(ctx, atLeastZero(ctx, score), dtype));
}

} // namespace ingot::lower
