// Normalisations, computed in float32 for float16 and bfloat16, and the two kinds of softmax.
#include "lower/Complex.h"
#include "lower/Lowering.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ingot::lower {

namespace {

/// `name` in the type the normalisation computes in; null when absent.
Value parameter(LowerContext &ctx, StringRef name, Type compute) {
  Value value = ctx.has(name) ? ctx.optionalTensor(name) : Value();
  return value ? ctx.cast(value, compute) : Value();
}

SmallVector<int64_t> lastAxes(Value x, int64_t count) { return axisRange(rankOf(x) - count, rankOf(x)); }

/// 1 / sqrt(mean(x²) + eps)
Value inverseRms(LowerContext &ctx, Value x, ArrayRef<int64_t> dims, double eps) {
  Value square = ctx.mean(ctx.binary<MulOp>(x, x), dims);
  return ctx.unary<RsqrtOp>(ctx.binary<AddOp>(square, eps));
}

struct LayerNorm {
  Value x; ///< in the type of computation
  int64_t rank = 0;
  double eps = 0;
  Value result;
};

/// Nullopt after refusing.
std::optional<LayerNorm> layerNorm(LowerContext &ctx, bool rms) {
  Value x = ctx.tensor("input");
  int64_t rank = static_cast<int64_t>(ctx.sizeList("normalized_shape").size());
  if (!isFloat(dtypeOf(x)) || rank == 0 || rank > rankOf(x)) {
    (void)ctx.refuse("needs a floating-point tensor with the dimensions to normalise");
    return std::nullopt;
  }
  Type dtype = dtypeOf(x);
  auto compute = cast<FloatType>(computeType(dtype)); // whose epsilon is the default, too
  double machineEpsilon = std::ldexp(1.0, 1 - static_cast<int>(compute.getFPMantissaWidth()));
  double epsilon = ctx.optionalReal("eps").value_or(machineEpsilon);
  LayerNorm norm{ctx.cast(x, compute), rank, epsilon, {}};
  Value weight = parameter(ctx, "weight", compute), bias = parameter(ctx, "bias", compute);
  Value result =
      ctx.create<LayerNormOp>(norm.x.getType(), norm.x, weight, bias, rank, APFloat(epsilon), rms).getResult();
  norm.result = ctx.cast(result, dtype);
  return norm;
}

} // namespace

LogicalResult lowerLayerNorm(LowerContext &ctx) {
  std::optional<LayerNorm> norm = layerNorm(ctx, /*rms=*/false);
  return norm ? ctx.replace(norm->result) : failure();
}

/// Complex numbers are squared, not their magnitudes, as in PyTorch.
static LogicalResult lowerComplexRmsNorm(LowerContext &ctx, Value x) {
  auto rank = static_cast<int64_t>(ctx.sizeList("normalized_shape").size());
  if (rank == 0 || rank > rankOf(x))
    return ctx.refuse("needs a tensor with the dimensions to normalise");
  auto part = cast<FloatType>(realType(dtypeOf(x)));
  double epsilon = ctx.optionalReal("eps").value_or(std::ldexp(1.0, 1 - static_cast<int>(part.getFPMantissaWidth())));
  Value result = ctx.binary<MulOp>(x, inverseRms(ctx, x, lastAxes(x, rank), epsilon));
  if (Value weight = ctx.optionalTensor("weight"))
    result = ctx.binary<MulOp>(result, ctx.cast(weight, dtypeOf(x)));
  return ctx.replace(result);
}

LogicalResult lowerRmsNorm(LowerContext &ctx) {
  if (Value x = ctx.tensor("input"); isComplex(dtypeOf(x)))
    return lowerComplexRmsNorm(ctx, x);
  std::optional<LayerNorm> norm = layerNorm(ctx, /*rms=*/true);
  return norm ? ctx.replace(norm->result) : failure();
}

LogicalResult lowerNativeLayerNorm(LowerContext &ctx) {
  std::optional<LayerNorm> norm = layerNorm(ctx, /*rms=*/false);
  if (!norm)
    return failure(); // layerNorm said why
  Value mean, rstd;
  if (ctx.isUsed(1) || ctx.isUsed(2)) {
    SmallVector<int64_t> dims = lastAxes(norm->x, norm->rank);
    mean = ctx.mean(norm->x, dims);
    rstd = inverseRms(ctx, ctx.binary<SubOp>(norm->x, mean), dims, norm->eps);
    mean = ctx.cast(mean, ctx.resultDtype(1));
    rstd = ctx.cast(rstd, ctx.resultDtype(2));
  }
  return ctx.replace({norm->result, mean, rstd});
}

LogicalResult lowerFusedRmsNorm(LowerContext &ctx) {
  std::optional<LayerNorm> norm = layerNorm(ctx, /*rms=*/true);
  if (!norm)
    return failure(); // layerNorm said why
  Value rstd;
  if (ctx.isUsed(1)) {
    rstd = inverseRms(ctx, norm->x, lastAxes(norm->x, norm->rank), norm->eps);
    rstd = ctx.cast(rstd, ctx.resultDtype(1));
  }
  return ctx.replace({norm->result, rstd});
}

//===------------------------------------------------------------------------------------------===//
// Groups and batches
//===------------------------------------------------------------------------------------------===//

/// Null after refusing.
static Value groupNorm(LowerContext &ctx, int64_t groups) {
  Value x = ctx.tensor("input");
  if (isFloat(dtypeOf(x)) && rankOf(x) >= 2 && groups == 0 && shapeOf(x)[1] == 0)
    return x; // of no channels, each a group of its own
  if (!isFloat(dtypeOf(x)) || rankOf(x) < 2 || groups <= 0) {
    (void)ctx.refuse("needs a floating-point tensor with channels, and a number of groups");
    return {};
  }
  Type compute = computeType(dtypeOf(x));
  Value wide = ctx.cast(x, compute);
  Value weight = parameter(ctx, "weight", compute), bias = parameter(ctx, "bias", compute);
  Value result =
      ctx.create<GroupNormOp>(wide.getType(), wide, weight, bias, groups, APFloat(ctx.real("eps"))).getResult();
  return ctx.cast(result, dtypeOf(x));
}

LogicalResult lowerGroupNorm(LowerContext &ctx) {
  Value result = groupNorm(ctx, ctx.integer("num_groups"));
  return result ? ctx.replace(result) : failure();
}

LogicalResult lowerNativeGroupNorm(LowerContext &ctx) {
  int64_t groups = ctx.integer("group");
  Value result = groupNorm(ctx, groups);
  if (!result)
    return failure(); // groupNorm said why
  if (!ctx.isUsed(1) && !ctx.isUsed(2))
    return ctx.replace({result, Value(), Value()});
  Value x = ctx.tensor("input");
  Size rest = ctx.floorDiv(ctx.numElements(x, axisRange(1, rankOf(x))), groups);
  Value wide = ctx.reshape(ctx.cast(x, computeType(dtypeOf(x))), {ctx.dim(x, 0), Size(groups), rest});
  Value mean = ctx.mean(wide, {2});
  Value rstd = inverseRms(ctx, ctx.binary<SubOp>(wide, mean), {2}, ctx.real("eps"));
  mean = ctx.cast(ctx.dropDims(mean, {2}), ctx.resultDtype(1));
  return ctx.replace({result, mean, ctx.cast(ctx.dropDims(rstd, {2}), ctx.resultDtype(2))});
}

/// x * scale + shift with scale = weight / sqrt(var + eps): later passes fold it into a convolution.
static Value normalizeByStatistics(LowerContext &ctx, Value x, Value mean, Value variance) {
  Type compute = computeType(dtypeOf(x));
  Value scale = ctx.binary<AddOp>(ctx.cast(variance, compute), ctx.real("eps"));
  scale = ctx.unary<RsqrtOp>(scale);
  if (Value weight = parameter(ctx, "weight", compute))
    scale = ctx.binary<MulOp>(weight, scale);
  Value shift = ctx.binary<MulOp>(ctx.cast(mean, compute), scale);
  Value bias = parameter(ctx, "bias", compute);
  shift = bias ? ctx.binary<SubOp>(bias, shift) : ctx.unary<NegOp>(shift);
  Sizes perChannel(std::max<int64_t>(rankOf(x) - 1, 1), Size(1));
  perChannel.front() = ctx.dim(scale, 0);
  Value product = ctx.binary<MulOp>(ctx.cast(x, compute), ctx.reshape(scale, perChannel));
  return ctx.cast(ctx.binary<AddOp>(product, ctx.reshape(shift, perChannel)), dtypeOf(x));
}

namespace {

/// PyTorch takes it, although it has no channels.
bool isEmptyVector(Value x) { return rankOf(x) == 1 && shapeOf(x)[0] == 0; }

bool isNormalizable(Value x) { return isFloat(dtypeOf(x)) && rankOf(x) >= 2; }

/// Mean and variance of each channel, in the type of computation.
struct BatchStatistics {
  Value mean, variance;
  Size count; ///< elements of a channel
};

BatchStatistics batchStatistics(LowerContext &ctx, Value x) {
  SmallVector<int64_t> dims = axisRange(0, rankOf(x));
  dims.erase(dims.begin() + 1);
  Value wide = ctx.cast(x, computeType(dtypeOf(x)));
  Value mean = ctx.mean(wide, dims);
  Value centred = ctx.binary<SubOp>(wide, mean);
  Value variance = ctx.mean(ctx.binary<MulOp>(centred, centred), dims);
  return {ctx.dropDims(mean, dims), ctx.dropDims(variance, dims), ctx.numElements(x, dims)};
}

/// What the running statistic `name` becomes.
Value movedStatistic(LowerContext &ctx, StringRef name, Value batch) {
  Value old = ctx.tensor(name);
  double momentum = ctx.real("momentum");
  Value kept = ctx.binary<MulOp>(ctx.cast(old, dtypeOf(batch)), 1 - momentum);
  return ctx.cast(ctx.binary<AddOp>(ctx.binary<MulOp>(batch, momentum), kept), dtypeOf(old));
}

/// The result, the statistics of the batch, and the moved running ones where the schema returns them.
LogicalResult normalizeBatch(LowerContext &ctx, bool movesStatistics) {
  Value x = ctx.tensor("input");
  BatchStatistics batch = batchStatistics(ctx, x);
  SmallVector<Value> results = {normalizeByStatistics(ctx, x, batch.mean, batch.variance)};
  size_t own = ctx.numResults() - (movesStatistics ? 2 : 0);
  if (own > 1)
    results.push_back(ctx.cast(batch.mean, ctx.resultDtype(1)));
  if (own > 2) {
    Value rstd = ctx.unary<RsqrtOp>(ctx.binary<AddOp>(batch.variance, ctx.real("eps")));
    results.push_back(ctx.cast(rstd, ctx.resultDtype(2)));
  }
  if (own > 3) // what other devices reserve
    results.push_back(ctx.full(Number::of(int64_t{0}), {Size(0)}, ctx.resultDtype(3)));
  if (movesStatistics) {
    results.push_back(movedStatistic(ctx, "running_mean", batch.mean));
    Type compute = dtypeOf(batch.variance);
    Value count = ctx.constant(Number::of(batch.count), compute);
    Value unbiased = ctx.binary<MulOp>(batch.variance, ctx.binary<DivOp>(count, ctx.binary<SubOp>(count, 1)));
    results.push_back(movedStatistic(ctx, "running_var", unbiased));
  }
  return ctx.replace(results);
}

/// By the running statistics; null after refusing.
Value batchNorm(LowerContext &ctx) {
  Value x = ctx.tensor("input");
  Value mean = ctx.optionalTensor("running_mean"), variance = ctx.optionalTensor("running_var");
  if (!mean || !variance || !isNormalizable(x) || rankOf(mean) != 1 || rankOf(variance) != 1) {
    (void)ctx.refuse("needs a floating-point tensor with channels, and statistics of each");
    return {};
  }
  return normalizeByStatistics(ctx, x, mean, variance);
}

} // namespace

LogicalResult lowerBatchNorm(LowerContext &ctx) {
  bool training = ctx.has("training") && ctx.flag("training");
  if (ctx.numResults() == 1 && isEmptyVector(ctx.tensor("input")))
    return ctx.replace(ctx.tensor("input"));
  if (training && isNormalizable(ctx.tensor("input")) && ctx.isNone("running_mean"))
    return normalizeBatch(ctx, /*movesStatistics=*/false);
  if (training)
    return ctx.refuseAsBug("functionalisation has left a batch norm that changes its statistics");
  Value result = batchNorm(ctx);
  if (!result)
    return failure(); // batchNorm said why
  SmallVector<Value> results{result};
  // The saved statistics are empty when not training.
  for (size_t i = 1; i < ctx.numResults(); ++i)
    results.push_back(ctx.isUsed(i) ? ctx.full(Number::of(int64_t{0}), {Size(0)}, ctx.resultDtype(i)) : Value());
  return ctx.replace(results);
}

/// The statistics of the batch itself, and no running ones: instance norm decomposes into it.
LogicalResult lowerBatchNormNoStats(LowerContext &ctx) {
  if (!isNormalizable(ctx.tensor("input")) || !ctx.flag("training"))
    return ctx.refuse("needs a floating-point tensor with channels, and the statistics of the batch");
  return normalizeBatch(ctx, /*movesStatistics=*/false);
}

/// Gives the running statistics as new tensors.
LogicalResult lowerBatchNormFunctional(LowerContext &ctx) {
  if (Value x = ctx.tensor("input"); isEmptyVector(x)) {
    Value nothing = ctx.tensor("running_mean");
    return ctx.replace({x, nothing, nothing, nothing, ctx.tensor("running_var")});
  }
  if (!isNormalizable(ctx.tensor("input")))
    return ctx.refuse("needs a floating-point tensor with channels");
  if (!ctx.has("training") || ctx.flag("training"))
    return normalizeBatch(ctx, /*movesStatistics=*/true);
  Value result = batchNorm(ctx);
  if (!result)
    return failure(); // batchNorm said why
  Value nothing = ctx.full(Number::of(int64_t{0}), {Size(0)}, ctx.resultDtype(1));
  return ctx.replace({result, nothing, nothing, ctx.tensor("running_mean"), ctx.tensor("running_var")});
}

/// Where the number of channels is a symbol.
static Value normalizeInstances(LowerContext &ctx, Value x) {
  Type compute = computeType(dtypeOf(x));
  SmallVector<int64_t> dims = axisRange(2, rankOf(x));
  Value wide = ctx.cast(x, compute);
  Value centred = ctx.binary<SubOp>(wide, ctx.mean(wide, dims));
  Value result = ctx.binary<MulOp>(centred, inverseRms(ctx, centred, dims, ctx.real("eps")));
  Sizes perChannel(rankOf(x) - 1, Size(1));
  perChannel.front() = ctx.dim(x, 1);
  if (Value weight = parameter(ctx, "weight", compute))
    result = ctx.binary<MulOp>(result, ctx.reshape(weight, perChannel));
  if (Value bias = parameter(ctx, "bias", compute))
    result = ctx.binary<AddOp>(result, ctx.reshape(bias, perChannel));
  return ctx.cast(result, dtypeOf(x));
}

LogicalResult lowerInstanceNorm(LowerContext &ctx) {
  Value x = ctx.tensor("input");
  if (!ctx.flag("use_input_stats")) {
    Value result = batchNorm(ctx);
    return result ? ctx.replace(result) : failure();
  }
  if (isNormalizable(x) && rankOf(x) > 2 && tensorType(x).isDynamicDim(1))
    return ctx.replace(normalizeInstances(ctx, x));
  if (rankOf(x) < 2 || tensorType(x).isDynamicDim(1))
    return ctx.refuse("the number of channels must be known here");
  Value result = groupNorm(ctx, shapeOf(x)[1]);
  return result ? ctx.replace(result) : failure();
}

//===------------------------------------------------------------------------------------------===//
// Softmax
//===------------------------------------------------------------------------------------------===//

namespace {

/// `self` in the `dtype` argument's type.
Value softmaxOperand(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (ctx.has("half_to_float") && ctx.flag("half_to_float"))
    return ctx.cast(x, ctx.f32());
  if (auto dtype = ctx.has("dtype") ? dyn_cast<TypeAttr>(ctx.attr("dtype")) : TypeAttr())
    return ctx.cast(x, dtype.getValue());
  return ctx.cast(x, floatType(dtypeOf(x)));
}

Value softmaxOf(LowerContext &ctx, Value x, bool log) {
  Value wide = ctx.cast(x, computeType(dtypeOf(x)));
  if (rankOf(x) == 0) {
    Value single = ctx.softmax(ctx.reshape(wide, {Size(1)}), 0, log);
    return ctx.cast(ctx.reshape(single, {}), dtypeOf(x));
  }
  return ctx.cast(ctx.softmax(wide, ctx.axis("dim", rankOf(x)), log), dtypeOf(x));
}

} // namespace

// The result of no elements may be of a type that has no softmax.
LogicalResult lowerSoftmax(LowerContext &ctx) {
  return ctx.replace(ctx.cast(softmaxOf(ctx, softmaxOperand(ctx), /*log=*/false), ctx.resultDtype(0)));
}

LogicalResult lowerLogSoftmax(LowerContext &ctx) {
  return ctx.replace(ctx.cast(softmaxOf(ctx, softmaxOperand(ctx), /*log=*/true), ctx.resultDtype(0)));
}

/// Rows of nothing but -infinity give zeros.
LogicalResult lowerSafeSoftmax(LowerContext &ctx) {
  Value x = softmaxOperand(ctx);
  if (rankOf(x) == 0)
    return ctx.refuse("a zero-dimensional tensor has no rows");
  Value peak = ctx.reduce(ReduceKind::Max, x, ctx.axis("dim", rankOf(x)));
  Value isMasked = ctx.compare<EqOp>(peak, -std::numeric_limits<double>::infinity());
  Value result = softmaxOf(ctx, x, /*log=*/false);
  return ctx.replace(ctx.select(isMasked, ctx.constant(0, dtypeOf(x)), result));
}

} // namespace ingot::lower
