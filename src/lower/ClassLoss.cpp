// Losses against classes: negative log likelihood, cross entropy, margins.
#include "lower/Loss.h"
#include "lower/Pick.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// Of the operand [C] or [N, C, …].
int64_t classAxis(Value x) { return rankOf(x) == 1 ? 0 : 1; }

Value sumAll(LowerContext &ctx, Value x) {
  return ctx.reshape(ctx.reduce(ReduceKind::Sum, x, axisRange(0, rankOf(x))), {});
}

/// One number a class, with the class axis of `like`.
Value alongClasses(LowerContext &ctx, Value weight, Value like) {
  Sizes shape(rankOf(like), Size(1));
  shape[classAxis(like)] = ctx.dim(weight, 0);
  return ctx.reshape(weight, shape);
}

/// A target of classes: which count, and their positions, 0 where they do not.
struct Labels {
  Value isCounted, index;
};

Labels readLabels(LowerContext &ctx, Value target, Size ignored) {
  target = ctx.cast(target, ctx.i64());
  Value isCounted = ctx.compare<NeOp>(target, ctx.constant(Number::of(ignored), ctx.i64()));
  return {isCounted, ctx.select(isCounted, target, ctx.constant(0, ctx.i64()))};
}

/// x at the labels: x is [C] or [N, C, …], the labels [] or [N, …].
Value pickClass(LowerContext &ctx, Value x, Value index) {
  int64_t axis = classAxis(x);
  Value positions = rankOf(x) == 1 ? ctx.reshape(index, {Size(1)}) : ctx.insertDim(index, axis);
  auto type = withShape(tensorType(x), shapeOf(positions));
  Value picked = refusingNegative(ctx.create<GatherOp>(type, x, positions, axis).getResult());
  return ctx.reshape(picked, ctx.sizes(index));
}

struct Likelihood {
  Value loss, totalWeight;
};

/// x holds log probabilities, in the type of computation.
Likelihood negativeLogLikelihood(LowerContext &ctx, Value x, Value target, Value weight, int64_t reduction) {
  Type compute = dtypeOf(x);
  if (rankOf(x) == 1)
    target = ctx.reshape(target, {});
  Labels labels = readLabels(ctx, target, ctx.size("ignore_index"));
  Value weights = weight ? ctx.indexSelect(ctx.cast(weight, compute), labels.index, 0) : Value();
  Value zero = ctx.constant(0, compute);
  weights = weights ? ctx.select(labels.isCounted, weights, zero) : ctx.cast(labels.isCounted, compute);
  Value loss = ctx.unary<NegOp>(pickClass(ctx, x, labels.index));
  loss = ctx.select(labels.isCounted, weight ? ctx.binary<MulOp>(loss, weights) : loss, zero);
  if (reduction == kNoReduction)
    return {loss, zero};
  Value total = sumAll(ctx, weights), sum = sumAll(ctx, loss);
  return {reduction == kMeanReduction ? ctx.binary<DivOp>(sum, total) : sum, total};
}

bool fitsClasses(Value x, Value target) {
  bool isVector = rankOf(x) == 1 && rankOf(target) <= 1;
  return isVector || (rankOf(x) >= 2 && rankOf(target) == rankOf(x) - 1);
}

} // namespace

LogicalResult lowerNllLoss(LowerContext &ctx) {
  Value x = ctx.tensor("self"), target = ctx.tensor("target");
  if (!isFloat(dtypeOf(x)) || !fitsClasses(x, target))
    return ctx.refuse("needs log probabilities of classes, and a class for each place");
  Value wide = ctx.cast(x, computeType(dtypeOf(x)));
  Likelihood found = negativeLogLikelihood(ctx, wide, target, ctx.optionalTensor("weight"), ctx.integer("reduction"));
  Value loss = ctx.reshape(ctx.cast(found.loss, ctx.resultDtype()), ctx.sizes(found.loss));
  if (rankOf(loss) != ctx.resultType().getRank()) // a vector of classes with a vector of one label
    loss = ctx.reshape(loss, Sizes(ctx.resultType().getRank(), Size(1)));
  if (ctx.numResults() == 1)
    return ctx.replace(loss);
  return ctx.replace({loss, ctx.cast(found.totalWeight, ctx.resultDtype(1))});
}

//===------------------------------------------------------------------------------------------===//
// Cross entropy
//===------------------------------------------------------------------------------------------===//

namespace {

/// The target gives a probability for every class.
Value probabilityEntropy(LowerContext &ctx, Value logs, double smoothing, Value weight) {
  Type compute = dtypeOf(logs);
  int64_t axis = classAxis(logs);
  Value target = ctx.cast(ctx.tensor("target"), compute);
  Size classes = ctx.dim(logs, axis);
  if (smoothing > 0) {
    Value share = ctx.binary<DivOp>(ctx.constant(smoothing, compute), ctx.constant(Number::of(classes), compute));
    target = ctx.binary<AddOp>(ctx.binary<MulOp>(target, 1 - smoothing), share);
  }
  Value product = ctx.binary<MulOp>(logs, target);
  if (weight)
    product = ctx.binary<MulOp>(product, alongClasses(ctx, ctx.cast(weight, compute), logs));
  Value loss = ctx.unary<NegOp>(product);
  int64_t reduction = ctx.integer("reduction");
  if (reduction == kNoReduction)
    return ctx.dropDims(ctx.reduce(ReduceKind::Sum, loss, axis), axis);
  Value sum = sumAll(ctx, loss);
  if (reduction == kSumReduction)
    return sum;
  Size places = ctx.numElements(ctx.reduce(ReduceKind::Sum, loss, axis), axisRange(0, rankOf(loss)));
  return ctx.binary<DivOp>(sum, ctx.constant(Number::of(places), compute));
}

/// What smoothing adds: the mean of all classes' losses.
Value smoothEntropy(LowerContext &ctx, Value logs, Value target, Value weight) {
  Type compute = dtypeOf(logs);
  int64_t axis = classAxis(logs);
  Labels labels = readLabels(ctx, target, ctx.size("ignore_index"));
  Value weighted = weight ? ctx.binary<MulOp>(logs, alongClasses(ctx, weight, logs)) : logs;
  Value loss = ctx.unary<NegOp>(ctx.dropDims(ctx.reduce(ReduceKind::Sum, weighted, axis), axis));
  loss = ctx.select(labels.isCounted, loss, ctx.constant(0, compute));
  int64_t reduction = ctx.integer("reduction");
  if (reduction == kNoReduction)
    return loss;
  Value sum = sumAll(ctx, loss);
  if (reduction == kSumReduction)
    return sum;
  Value count = ctx.cast(labels.isCounted, compute);
  if (weight)
    count = ctx.select(labels.isCounted, ctx.indexSelect(weight, labels.index, 0), ctx.constant(0, compute));
  return ctx.binary<DivOp>(sum, sumAll(ctx, count));
}

} // namespace

LogicalResult lowerCrossEntropyLoss(LowerContext &ctx) {
  Value x = ctx.tensor("self"), target = ctx.tensor("target"), weight = ctx.optionalTensor("weight");
  if (!isFloat(dtypeOf(x)) || rankOf(x) == 0)
    return ctx.refuse("needs scores of classes");
  Type dtype = dtypeOf(x), compute = computeType(dtype);
  double smoothing = ctx.real("label_smoothing");
  Value logs = ctx.cast(ctx.softmax(ctx.cast(x, compute), classAxis(x), /*log=*/true), dtype);
  logs = ctx.cast(logs, compute);
  if (isFloat(dtypeOf(target)) && rankOf(target) == rankOf(x))
    return ctx.replace(ctx.cast(probabilityEntropy(ctx, logs, smoothing, weight), dtype));
  if (!fitsClasses(x, target))
    return ctx.refuse("needs a class for each place, or probabilities of the scores' shape");
  if (rankOf(x) == 1)
    target = ctx.reshape(target, {});
  if (weight)
    weight = ctx.cast(weight, compute);
  Value loss = negativeLogLikelihood(ctx, logs, target, weight, ctx.integer("reduction")).loss;
  if (smoothing > 0) {
    Value share = ctx.constant(Number::of(ctx.dim(x, classAxis(x))), compute);
    share = ctx.binary<DivOp>(ctx.constant(smoothing, compute), share);
    Value smooth = ctx.binary<MulOp>(smoothEntropy(ctx, logs, target, weight), share);
    loss = ctx.binary<AddOp>(ctx.binary<MulOp>(loss, 1 - smoothing), smooth);
  }
  loss = ctx.cast(loss, dtype);
  if (rankOf(loss) != ctx.resultType().getRank())
    loss = ctx.reshape(loss, Sizes(ctx.resultType().getRank(), Size(1)));
  return ctx.replace(loss);
}

/// A linear layer and its cross entropy, which PyTorch computes chunk by chunk. The other results are gradients.
LogicalResult lowerLinearCrossEntropy(LowerContext &ctx) {
  Value x = ctx.tensor("input"), matrix = ctx.tensor("linear_weight"), target = ctx.tensor("target");
  if (rankOf(x) != 2 || rankOf(matrix) != 2 || rankOf(target) != 1 || !isFloat(dtypeOf(x)))
    return ctx.refuse("needs rows, a matrix, and a class for each row");
  if (ctx.has("label_smoothing") && ctx.real("label_smoothing") != 0)
    return ctx.refuse("labels cannot be smoothed here");
  Type compute = computeType(dtypeOf(x));
  Value bias = ctx.optionalTensor("linear_bias");
  Value scores = ctx.matmul(ctx.cast(x, compute), ctx.transpose(ctx.cast(matrix, compute), 0, 1),
                            bias ? ctx.cast(bias, compute) : Value());
  int64_t reduction = kNoReduction;
  if (ctx.has("reduction"))
    reduction = ctx.string("reduction") == "mean" ? kMeanReduction : kSumReduction;
  Value logs = ctx.softmax(scores, 1, /*log=*/true);
  Value loss = negativeLogLikelihood(ctx, logs, target, ctx.optionalTensor("weight"), reduction).loss;
  SmallVector<Value> results(ctx.numResults());
  results.front() = ctx.cast(loss, ctx.resultDtype());
  return ctx.replace(results);
}

//===------------------------------------------------------------------------------------------===//
// Margins
//===------------------------------------------------------------------------------------------===//

namespace {

/// [C] as [1, C].
Value asRows(LowerContext &ctx, Value x) {
  return rankOf(x) >= 2 ? x : ctx.reshape(x, {Size(1), ctx.numElements(x, axisRange(0, rankOf(x)))});
}

/// Losses [N]; where the operand was a vector, PyTorch gives one without a dimension.
LogicalResult replaceRowLosses(LowerContext &ctx, Value loss, Value x, Value second = {}) {
  if (ctx.resultType().getRank() == 0 && ctx.integer("reduction") == kNoReduction)
    loss = ctx.reshape(loss, {});
  loss = reduceLoss(ctx, loss, dtypeOf(x));
  if (ctx.numResults() == 1)
    return ctx.replace(loss);
  return ctx.replace({loss, second});
}

} // namespace

LogicalResult lowerMultiMarginLoss(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isFloat(dtypeOf(x)) || rankOf(x) > 2)
    return ctx.refuse("needs rows of scores");
  Type compute = computeType(dtypeOf(x));
  Value rows = asRows(ctx, ctx.cast(x, compute));
  Value target = ctx.cast(ctx.flatten(ctx.tensor("target")), ctx.i64());
  Value column = ctx.insertDim(target, 1);
  auto type = withShape(tensorType(rows), shapeOf(column));
  Value right = refusingNegative(ctx.create<GatherOp>(type, rows, column, 1).getResult());
  Value margin = ctx.constant(ctx.number("margin"), compute);
  Value excess = atLeastZero(ctx, ctx.binary<AddOp>(ctx.binary<SubOp>(margin, right), rows));
  if (ctx.number("p").is(2))
    excess = ctx.binary<MulOp>(excess, excess);
  if (Value weight = ctx.optionalTensor("weight"))
    excess = ctx.binary<MulOp>(excess, ctx.indexSelect(ctx.cast(weight, compute), column, 0));
  Value isRight = ctx.compare<EqOp>(ctx.iota(ctx.dim(rows, 1)), column);
  excess = ctx.select(isRight, ctx.constant(0, compute), excess);
  return replaceRowLosses(ctx, ctx.dropDims(ctx.mean(excess, {1}), {1}), x);
}

LogicalResult lowerMultilabelMarginLoss(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isFloat(dtypeOf(x)) || rankOf(x) > 2)
    return ctx.refuse("needs rows of scores");
  Type compute = computeType(dtypeOf(x));
  Value rows = asRows(ctx, ctx.cast(x, compute));
  Value target = asRows(ctx, ctx.cast(ctx.tensor("target"), ctx.i64()));
  // The labels of a row end at the first negative one.
  Value stops = ctx.cast(ctx.compare<LtOp>(target, 0), ctx.i64());
  Value ended = ctx.create<CumsumOp>(stops.getType(), stops, 1).getResult();
  Value isLabel = ctx.compare<EqOp>(ended, 0);
  Value index = ctx.select(isLabel, target, ctx.constant(0, ctx.i64()));
  auto type = withShape(tensorType(rows), shapeOf(index));
  Value right = ctx.create<GatherOp>(type, rows, index, 1).getResult();
  // [N, label, class]
  Value labels = ctx.insertDim(isLabel, 2);
  Value isHit =
      ctx.binary<BitwiseAndOp>(labels, ctx.compare<EqOp>(ctx.insertDim(index, 2), ctx.iota(ctx.dim(rows, 1))));
  Value isTarget = ctx.reduce(ReduceKind::Any, isHit, {1});
  Value excess = ctx.binary<SubOp>(ctx.insertDim(rows, 1), ctx.insertDim(right, 2));
  excess = atLeastZero(ctx, ctx.binary<AddOp>(excess, 1));
  Value counts = ctx.binary<BitwiseAndOp>(labels, ctx.test<LogicalNotOp>(isTarget));
  excess = ctx.select(counts, excess, ctx.constant(0, compute));
  Value sum = ctx.dropDims(ctx.reduce(ReduceKind::Sum, excess, {1, 2}), {1, 2});
  Value loss = ctx.binary<DivOp>(sum, ctx.constant(Number::of(ctx.dim(rows, 1)), compute));
  Value marks = ctx.cast(ctx.dropDims(isTarget, {1}), dtypeOf(x));
  return replaceRowLosses(ctx, loss, x, ctx.reshape(marks, ctx.sizes(ctx.tensor("target"))));
}

} // namespace ingot::lower
