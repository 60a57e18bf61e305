// Random numbers. Each draw is an op of its own; the distributions are made of them by element-wise ops.
#include "lower/Random.h"

#include "dialect/RandomOps.h"
#include "lower/ComplexConstant.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// Draws
//===------------------------------------------------------------------------------------------===//

namespace {

/// Sizes as ops hold them: literals in a list, and operands for the rest.
struct SizeEntries {
  SmallVector<int64_t> list;
  SmallVector<Value> dynamic;

  explicit SizeEntries(ArrayRef<Size> sizes) {
    for (const Size &size : sizes) {
      list.push_back(size.entry());
      if (!size.isStatic())
        dynamic.push_back(size.dynamic);
    }
  }
};

template <typename Op> Value draw(LowerContext &ctx, ArrayRef<Size> sizes, Type dtype) {
  SizeEntries entries(sizes);
  auto type = RankedTensorType::get(entries.list, dtype);
  return ctx.create<Op>(type, entries.dynamic, entries.list).getResult();
}

Value uniform(LowerContext &ctx, ArrayRef<Size> sizes, Type dtype) { return draw<RandomUniformOp>(ctx, sizes, dtype); }
Value normal(LowerContext &ctx, ArrayRef<Size> sizes, Type dtype) { return draw<RandomNormalOp>(ctx, sizes, dtype); }

/// The sizes of the tensor to make: given, or those of `self`.
Sizes sizesToMake(LowerContext &ctx) { return ctx.has("size") ? ctx.sizeList("size") : ctx.sizes(ctx.tensor("self")); }

/// The result's type, or float32 for integers: what distributions are computed in.
Type drawType(LowerContext &ctx) {
  Type dtype = ctx.resultDtype();
  return isComplex(dtype) ? dtype : isIntegral(dtype) ? ctx.builder.getF64Type() : computeType(dtype);
}

LogicalResult finish(LowerContext &ctx, Value drawn) { return ctx.replace(ctx.cast(drawn, ctx.resultDtype())); }

/// 1 - u: in (0, 1], safe to take the logarithm of.
Value positiveUniform(LowerContext &ctx, ArrayRef<Size> sizes, Type dtype) {
  return ctx.binary<SubOp>(ctx.constant(1, dtype), uniform(ctx, sizes, dtype));
}

Value timesPlus(LowerContext &ctx, Value x, double factor, double shift) {
  Value scaled = factor == 1 ? x : ctx.binary<MulOp>(x, factor);
  return shift == 0 ? scaled : ctx.binary<AddOp>(scaled, shift);
}

/// The same for a draw; of complex numbers both parts are shifted.
Value spread(LowerContext &ctx, Value drawn, double factor, double shift) {
  if (!isComplex(dtypeOf(drawn)))
    return timesPlus(ctx, drawn, factor, shift);
  Value centre = complexConstant(ctx, shift, shift, dtypeOf(drawn));
  return ctx.binary<AddOp>(ctx.binary<MulOp>(drawn, factor), centre);
}

} // namespace

LogicalResult lowerRand(LowerContext &ctx) { return ctx.replace(uniform(ctx, sizesToMake(ctx), ctx.resultDtype())); }

LogicalResult lowerRandn(LowerContext &ctx) { return ctx.replace(normal(ctx, sizesToMake(ctx), ctx.resultDtype())); }

LogicalResult lowerUniform(LowerContext &ctx) {
  double from = ctx.real("from"), to = ctx.real("to");
  return finish(ctx, spread(ctx, uniform(ctx, sizesToMake(ctx), drawType(ctx)), to - from, from));
}

//===------------------------------------------------------------------------------------------===//
// Integers
//===------------------------------------------------------------------------------------------===//

namespace {

LogicalResult integers(LowerContext &ctx, Size low, Size high) {
  SizeEntries entries(sizesToMake(ctx));
  Value first = ctx.asValue(low), last = ctx.asValue(high);
  auto type = RankedTensorType::get(entries.list, ctx.resultDtype());
  return ctx.replace(ctx.create<RandomIntegerOp>(type, first, last, entries.dynamic, entries.list).getResult());
}

/// One more than the largest number that random_() draws: all that a type counts exactly.
int64_t randomLimit(Type dtype) {
  if (dtype.isF64())
    return (int64_t(1) << 53) + 1;
  if (dtype.isF32())
    return (int64_t(1) << 24) + 1;
  if (dtype.isF16())
    return (int64_t(1) << 11) + 1;
  if (dtype.isBF16())
    return (int64_t(1) << 8) + 1;
  if (isBool(dtype))
    return 2;
  auto integer = dyn_cast<IntegerType>(dtype);
  unsigned bits = integer ? integer.getWidth() - (integer.isUnsigned() ? 0 : 1) : 63;
  return bits >= 63 ? INT64_MAX : int64_t(1) << bits;
}

} // namespace

LogicalResult lowerRandint(LowerContext &ctx) {
  Size low = ctx.has("low") ? ctx.size("low") : Size(0);
  Operand high = ctx.operand("high");
  if (!high.isTensor())
    return integers(ctx, low, ctx.size("high"));
  Type f64 = ctx.builder.getF64Type();
  Value scaled = ctx.binary<MulOp>(uniform(ctx, sizesToMake(ctx), f64), ctx.cast(high.tensor, f64));
  return finish(ctx, ctx.unary<FloorOp>(scaled));
}

LogicalResult lowerRandom(LowerContext &ctx) {
  Size low = ctx.has("from") ? ctx.size("from") : Size(0);
  bool hasHigh = ctx.has("to") && !ctx.isNone("to");
  return integers(ctx, low, hasHigh ? ctx.size("to") : Size(randomLimit(ctx.resultDtype())));
}

LogicalResult lowerRandperm(LowerContext &ctx) {
  Size count = ctx.size("n");
  Value size = ctx.asValue(count);
  auto type = RankedTensorType::get({count.entry()}, ctx.resultDtype());
  return ctx.replace(ctx.create<RandomPermutationOp>(type, size).getResult());
}

//===------------------------------------------------------------------------------------------===//
// Distributions
//===------------------------------------------------------------------------------------------===//

/// normal_ and normal.float_float.
LogicalResult lowerNormal(LowerContext &ctx) {
  Value drawn = normal(ctx, sizesToMake(ctx), drawType(ctx));
  return finish(ctx, spread(ctx, drawn, ctx.real("std"), ctx.real("mean")));
}

/// Mean or standard deviation, or both, are tensors.
LogicalResult lowerNormalTensor(LowerContext &ctx) {
  Operand mean = ctx.operand("mean"), deviation = ctx.operand("std");
  Type compute = drawType(ctx);
  Value centre = ctx.as(mean, compute), spread = ctx.as(deviation, compute);
  Value like = ctx.binary<AddOp>(centre, spread); // for its sizes
  Value drawn = normal(ctx, ctx.sizes(like), compute);
  return finish(ctx, ctx.binary<AddOp>(ctx.binary<MulOp>(drawn, spread), centre));
}

LogicalResult lowerLogNormal(LowerContext &ctx) {
  Value drawn = normal(ctx, sizesToMake(ctx), drawType(ctx));
  return finish(ctx, ctx.unary<ExpOp>(timesPlus(ctx, drawn, ctx.real("std"), ctx.real("mean"))));
}

LogicalResult lowerExponential(LowerContext &ctx) {
  Value drawn = ctx.unary<LogOp>(positiveUniform(ctx, sizesToMake(ctx), drawType(ctx)));
  return finish(ctx, ctx.binary<MulOp>(drawn, -1 / ctx.real("lambd")));
}

LogicalResult lowerGeometric(LowerContext &ctx) {
  Value drawn = ctx.unary<LogOp>(positiveUniform(ctx, sizesToMake(ctx), drawType(ctx)));
  Value trials = ctx.unary<CeilOp>(ctx.binary<MulOp>(drawn, 1 / std::log1p(-ctx.real("p"))));
  return finish(ctx, ctx.binary<MaximumOp>(trials, 1));
}

LogicalResult lowerCauchy(LowerContext &ctx) {
  Value drawn = uniform(ctx, sizesToMake(ctx), drawType(ctx));
  Value angle = ctx.binary<MulOp>(ctx.binary<SubOp>(drawn, 0.5), std::numbers::pi);
  return finish(ctx, timesPlus(ctx, ctx.unary<TanOp>(angle), ctx.real("sigma"), ctx.real("median")));
}

LogicalResult lowerPoisson(LowerContext &ctx) {
  Value mean = ctx.tensor("self");
  return ctx.replace(ctx.create<RandomPoissonOp>(mean.getType(), mean).getResult());
}

LogicalResult lowerBinomial(LowerContext &ctx) {
  Value count = ctx.cast(ctx.tensor("count"), ctx.resultDtype());
  Value probability = ctx.cast(ctx.tensor("prob"), ctx.resultDtype());
  Sizes sizes = ctx.sizes(ctx.binary<AddOp>(count, probability));
  count = ctx.expand(count, sizes);
  probability = ctx.expand(probability, sizes);
  return ctx.replace(ctx.create<RandomBinomialOp>(count.getType(), count, probability).getResult());
}

LogicalResult lowerMultinomial(LowerContext &ctx) {
  Value weights = ctx.tensor("self");
  if (rankOf(weights) < 1 || rankOf(weights) > 2)
    return ctx.refuse("needs a vector or a matrix of weights");
  Size count = ctx.size("num_samples");
  SmallVector<int64_t> shape(shapeOf(weights));
  shape.back() = count.entry();
  Value samples = ctx.asValue(count);
  auto type = RankedTensorType::get(shape, ctx.i64());
  return ctx.replace(ctx.create<RandomMultinomialOp>(type, weights, samples, ctx.flag("replacement")).getResult());
}

//===------------------------------------------------------------------------------------------===//
// Choices, dropout
//===------------------------------------------------------------------------------------------===//

namespace {

/// True with the probability `p`, which is a number or broadcasts.
Value chance(LowerContext &ctx, ArrayRef<Size> sizes, const Operand &p) {
  Type f64 = ctx.builder.getF64Type();
  return ctx.compare<LtOp>(uniform(ctx, sizes, f64), ctx.as(p, f64));
}

Value input(LowerContext &ctx) { return ctx.tensor(ctx.has("input") ? "input" : "self"); }

/// One size for each feature (the first two dimensions), 1 for what lies in it.
Sizes featureSizes(LowerContext &ctx, Value x) {
  Sizes sizes = ctx.sizes(x);
  for (size_t i = 2; i < sizes.size(); ++i)
    sizes[i] = 1;
  return sizes;
}

bool drops(LowerContext &ctx) { return (ctx.isNone("train") || ctx.flag("train")) && ctx.real("p") != 0; }

/// One draw for each element of `sizes`, which broadcast to the tensor's.
Value dropped(LowerContext &ctx, Value x, ArrayRef<Size> sizes, double p) {
  if (p == 1)
    return ctx.binary<MulOp>(x, 0);
  Value isKept = chance(ctx, sizes, Number::of(1 - p));
  // The noise is rounded to the tensor's type before the product, as in PyTorch.
  Value noise = ctx.select(isKept, ctx.constant(1 / (1 - p), dtypeOf(x)), ctx.constant(0, dtypeOf(x)));
  return ctx.binary<MulOp>(x, noise);
}

LogicalResult dropout(LowerContext &ctx, bool isByFeature) {
  Value x = input(ctx);
  if (!drops(ctx))
    return ctx.replace(x);
  return ctx.replace(dropped(ctx, x, isByFeature ? featureSizes(ctx, x) : ctx.sizes(x), ctx.real("p")));
}

/// Keeps mean and variance of what selu gives (Klambauer et al., 2017).
LogicalResult alphaDropout(LowerContext &ctx, bool isByFeature) {
  constexpr double kAlpha = 1.7580993408473766;
  Value x = input(ctx);
  if (!drops(ctx))
    return ctx.replace(x);
  double p = ctx.real("p");
  if (p == 1)
    return ctx.replace(ctx.binary<MulOp>(x, 0));
  double scale = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  Value isKept = chance(ctx, isByFeature ? featureSizes(ctx, x) : ctx.sizes(x), Number::of(1 - p));
  Value kept = ctx.cast(isKept, dtypeOf(x));
  Value shift = timesPlus(ctx, ctx.binary<SubOp>(kept, 1), kAlpha * scale, kAlpha * scale * p);
  return ctx.replace(ctx.binary<AddOp>(ctx.binary<MulOp>(x, ctx.binary<MulOp>(kept, scale)), shift));
}

} // namespace

Value dropoutOf(LowerContext &ctx, Value x, double p) { return dropped(ctx, x, ctx.sizes(x), p); }

LogicalResult lowerDropout(LowerContext &ctx) { return dropout(ctx, false); }
LogicalResult lowerFeatureDropout(LowerContext &ctx) { return dropout(ctx, true); }
LogicalResult lowerAlphaDropout(LowerContext &ctx) { return alphaDropout(ctx, false); }
LogicalResult lowerFeatureAlphaDropout(LowerContext &ctx) { return alphaDropout(ctx, true); }

LogicalResult lowerNativeDropout(LowerContext &ctx) {
  Value x = ctx.tensor("input");
  double p = ctx.real("p");
  if (!drops(ctx))
    return ctx.replace({x, ctx.full(Number::of(true), ctx.sizes(x), ctx.i1())});
  Value isKept = chance(ctx, ctx.sizes(x), Number::of(1 - p));
  Value product = ctx.binary<MulOp>(x, ctx.cast(isKept, dtypeOf(x)));
  return ctx.replace({ctx.binary<MulOp>(product, p == 1 ? 0 : 1 / (1 - p)), isKept});
}

LogicalResult lowerBernoulli(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Operand p = ctx.has("p") ? ctx.operand("p") : Operand(x);
  return finish(ctx, chance(ctx, ctx.sizes(x), p));
}

/// A leaky relu whose slopes are drawn in training.
LogicalResult lowerRrelu(LowerContext &ctx) {
  Value x = ctx.tensor("self"), wide = ctx.cast(x, computeType(dtypeOf(x)));
  double low = ctx.real("lower"), high = ctx.real("upper");
  bool isTraining = ctx.flag("training");
  Value slope = ctx.constant((low + high) / 2, dtypeOf(wide));
  if (isTraining)
    slope = timesPlus(ctx, uniform(ctx, ctx.sizes(x), dtypeOf(wide)), high - low, low);
  Value isNegative = isTraining ? ctx.compare<LeOp>(wide, 0) : ctx.compare<LtOp>(wide, 0);
  Value result = ctx.cast(ctx.select(isNegative, ctx.binary<MulOp>(wide, slope), wide), dtypeOf(x));
  if (ctx.numResults() == 1)
    return ctx.replace(result);
  Value noise = isTraining ? ctx.cast(ctx.select(isNegative, slope, ctx.constant(1, dtypeOf(wide))), dtypeOf(x))
                           : ctx.tensor("noise");
  return ctx.replace({result, noise});
}

} // namespace ingot::lower
