// Gradients that programs hold as nodes of their own: of pooling, norms, convolutions and embeddings.
#include "dialect/WindowOps.h"
#include "lower/Pool.h"

#include <cmath>

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// Norms
//===------------------------------------------------------------------------------------------===//

namespace {

/// Gradients of a norm over `dims` of x, which are normalised as (x - mean) * rstd.
struct NormGradient {
  Value x, grad, mean, rstd; ///< in one type, the statistics with kept dimensions
  SmallVector<int64_t> dims;
};

Value normalized(LowerContext &ctx, const NormGradient &g) {
  return ctx.binary<MulOp>(ctx.binary<SubOp>(g.x, g.mean), g.rstd);
}

/// `scaled` is the gradient of the normalised x.
Value inputGradient(LowerContext &ctx, const NormGradient &g, Value scaled) {
  Value xhat = normalized(ctx, g);
  Value level = ctx.mean(scaled, g.dims), tilt = ctx.mean(ctx.binary<MulOp>(scaled, xhat), g.dims);
  Value rest = ctx.binary<SubOp>(ctx.binary<SubOp>(scaled, level), ctx.binary<MulOp>(xhat, tilt));
  return ctx.binary<MulOp>(rest, g.rstd);
}

} // namespace

LogicalResult lowerLayerNormBackward(LowerContext &ctx) {
  Value x = ctx.tensor("input"), weight = ctx.optionalTensor("weight");
  auto inner = static_cast<int64_t>(ctx.sizeList("normalized_shape").size());
  if (inner == 0 || inner > rankOf(x))
    return ctx.refuse("needs the dimensions that are normalised");
  Type compute = computeType(dtypeOf(x));
  auto wide = [&](StringRef name) { return ctx.cast(ctx.tensor(name), compute); };
  NormGradient g{wide("input"), wide("grad_out"), wide("mean"), wide("rstd"), axisRange(rankOf(x) - inner, rankOf(x))};
  SmallVector<int64_t> outer = axisRange(0, rankOf(x) - inner);
  Value scaled = weight ? ctx.binary<MulOp>(g.grad, ctx.cast(weight, compute)) : g.grad;
  auto overRows = [&](Value value, size_t result) {
    return ctx.isUsed(result)
               ? ctx.cast(ctx.dropDims(ctx.reduce(ReduceKind::Sum, value, outer), outer), ctx.resultDtype(result))
               : Value();
  };
  Value first = ctx.cast(inputGradient(ctx, g, scaled), ctx.resultDtype(0));
  Value second = overRows(ctx.binary<MulOp>(g.grad, normalized(ctx, g)), 1);
  return ctx.replace({first, second, overRows(g.grad, 2)});
}

LogicalResult lowerGroupNormBackward(LowerContext &ctx) {
  Value x = ctx.tensor("input"), weight = ctx.optionalTensor("weight");
  int64_t groups = ctx.integer("group");
  if (rankOf(x) < 2 || groups < 1)
    return ctx.refuse("needs channels and groups");
  Type compute = computeType(dtypeOf(x));
  Size batch = ctx.dim(x, 0), channels = ctx.dim(x, 1), rest = ctx.numElements(x, axisRange(2, rankOf(x)));
  Size perGroup = ctx.floorDiv(channels, groups);
  Sizes split = {batch, Size(groups), perGroup, rest}, perImage = {batch, Size(groups), Size(1), Size(1)};
  auto wide = [&](StringRef name, const Sizes &shape) {
    return ctx.reshape(ctx.cast(ctx.tensor(name), compute), shape);
  };
  NormGradient g{wide("input", split), wide("grad_out", split), wide("mean", perImage), wide("rstd", perImage), {2, 3}};
  Value scaled = g.grad;
  if (weight)
    scaled =
        ctx.binary<MulOp>(scaled, ctx.reshape(ctx.cast(weight, compute), {Size(1), Size(groups), perGroup, Size(1)}));
  auto overImages = [&](Value value, size_t result) {
    return ctx.isUsed(result)
               ? ctx.cast(ctx.reshape(ctx.reduce(ReduceKind::Sum, value, {0, 3}), {channels}), ctx.resultDtype(result))
               : Value();
  };
  Value first = ctx.cast(ctx.reshape(inputGradient(ctx, g, scaled), ctx.sizes(x)), ctx.resultDtype(0));
  Value second = overImages(ctx.binary<MulOp>(g.grad, normalized(ctx, g)), 1);
  return ctx.replace({first, second, overImages(g.grad, 2)});
}

//===------------------------------------------------------------------------------------------===//
// Embeddings and pooling
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerEmbeddingDenseBackward(LowerContext &ctx) {
  Value grad = ctx.tensor("grad_output"), indices = ctx.flatten(ctx.cast(ctx.tensor("indices"), ctx.i64()));
  if (ctx.flag("scale_grad_by_freq") || rankOf(grad) < 1)
    return ctx.refuse("gradients cannot be scaled by frequency");
  Size rows = ctx.size("num_weights"), count = ctx.dim(indices, 0), width = ctx.dim(grad, rankOf(grad) - 1);
  Type compute = computeType(dtypeOf(grad));
  // Columns are the planes: [width, count] added into [width, rows].
  Value columns = ctx.transpose(ctx.reshape(ctx.cast(grad, compute), {count, width}), 0, 1);
  Value padding = ctx.constant(Number::of(ctx.size("padding_idx")), ctx.i64());
  columns = ctx.select(ctx.compare<EqOp>(indices, padding), ctx.constant(0, compute), columns);
  Value places = ctx.expand(ctx.reshape(indices, {Size(1), count}), {width, count});
  SmallVector<Value> dynamic;
  if (!rows.isStatic())
    dynamic.push_back(rows.dynamic);
  auto type = RankedTensorType::get({width.entry(), rows.entry()}, compute);
  Value sums = ctx.create<PlaneScatterOp>(type, columns, places, dynamic, rows.entry(), true).getResult();
  return ctx.replace(ctx.cast(ctx.transpose(sums, 0, 1), dtypeOf(grad)));
}

/// The pooling is a product with a matrix on either side; its gradient is one with their transposes.
LogicalResult lowerAdaptiveAvgPoolBackward(LowerContext &ctx) {
  Value grad = ctx.tensor("grad_output"), x = ctx.tensor("self");
  int64_t rank = rankOf(x);
  if (rank < 3 || rankOf(grad) != rank)
    return ctx.refuse("needs images");
  Type compute = computeType(dtypeOf(x));
  Value rows = adaptiveShares(ctx, ctx.dim(x, rank - 2), ctx.dim(grad, rank - 2), compute);
  Value columns = adaptiveShares(ctx, ctx.dim(x, rank - 1), ctx.dim(grad, rank - 1), compute);
  Value left = ctx.matmul(ctx.transpose(rows, 0, 1), ctx.cast(grad, compute));
  return ctx.replace(ctx.cast(ctx.matmul(left, columns), dtypeOf(x)));
}

namespace {

/// A pooling window along one dimension.
struct MeanWindow {
  int64_t kernel, stride, padding;
  bool includesPadding, divides;
};

/// The share of each input position in every result position: [out, in].
Value windowShares(LowerContext &ctx, Size in, Size out, const MeanWindow &window, Type dtype) {
  auto number = [&](Size size) { return ctx.constant(Number::of(size), ctx.i64()); };
  Value begin = ctx.iota(Number::of(-window.padding), Number::of(window.stride), out, ctx.i64());
  begin = ctx.reshape(begin, {out, Size(1)});
  Value end = ctx.binary<AddOp>(begin, number(window.kernel));
  end = ctx.binary<MinimumOp>(end, number(ctx.plus(in, window.padding)));
  Value first = ctx.binary<MaximumOp>(begin, 0), last = ctx.binary<MinimumOp>(end, number(in));
  Value place = ctx.reshape(ctx.iota(in), {Size(1), in});
  Value isInside = ctx.binary<BitwiseAndOp>(ctx.compare<GeOp>(place, first), ctx.compare<LtOp>(place, last));
  Value shares = ctx.cast(isInside, dtype);
  if (!window.divides)
    return shares;
  Value length = window.includesPadding ? ctx.binary<SubOp>(end, begin) : ctx.binary<SubOp>(last, first);
  return ctx.binary<DivOp>(shares, ctx.cast(length, dtype));
}

} // namespace

LogicalResult lowerAvgPoolBackward(LowerContext &ctx) {
  Value grad = ctx.tensor("grad_output"), x = ctx.tensor("self");
  int64_t rank = rankOf(x);
  if (rank < 3 || rankOf(grad) != rank)
    return ctx.refuse("needs images");
  SmallVector<int64_t> kernel = ctx.integers("kernel_size", 2, 1), padding = ctx.integers("padding", 2, 0);
  SmallVector<int64_t> strides = ctx.sizeList("stride").empty() ? kernel : ctx.integers("stride", 2, 1);
  bool hasDivisor = !ctx.isNone("divisor_override");
  Type compute = computeType(dtypeOf(x));
  auto shares = [&](int64_t i) {
    MeanWindow window{kernel[i], strides[i], padding[i], ctx.flag("count_include_pad"), !hasDivisor};
    return windowShares(ctx, ctx.dim(x, rank - 2 + i), ctx.dim(grad, rank - 2 + i), window, compute);
  };
  Value rows = shares(0), columns = shares(1);
  Value result = ctx.matmul(ctx.matmul(ctx.transpose(rows, 0, 1), ctx.cast(grad, compute)), columns);
  if (hasDivisor)
    result = ctx.binary<DivOp>(result, static_cast<double>(ctx.integer("divisor_override")));
  return ctx.replace(ctx.cast(result, dtypeOf(x)));
}

//===------------------------------------------------------------------------------------------===//
// Convolutions
//===------------------------------------------------------------------------------------------===//

namespace {

struct ConvGradient {
  Value grad, x, weight; ///< in the type of computation
  SmallVector<int64_t> strides, padding, dilations;
  int64_t groups = 1;
  bool transposed = false;
};

Value convolve(LowerContext &ctx, Value x, Value weight, const ConvShape &shape) {
  RankedTensorType type = convType(tensorType(x), tensorType(weight), shape);
  if (!type) {
    (void)ctx.refuse("the shapes of gradient, operand and weight do not fit together");
    return {};
  }
  return ctx
      .create<ConvOp>(type, x, weight, Value(), Value(), shape.strides, shape.padLow, shape.padHigh, shape.dilations,
                      shape.outputPadding, shape.groups, shape.transposed, Activation::None)
      .getResult();
}

/// A convolution of the other kind.
Value convInputGradient(LowerContext &ctx, const ConvGradient &g) {
  SmallVector<int64_t> rest(g.strides.size(), 0);
  for (size_t i = 0; !g.transposed && i < rest.size(); ++i) {
    int64_t reach = g.dilations[i] * (shapeOf(g.weight)[i + 2] - 1) + 1;
    rest[i] = shapeOf(g.x)[i + 2] - ((shapeOf(g.grad)[i + 2] - 1) * g.strides[i] - 2 * g.padding[i] + reach);
  }
  return convolve(ctx, g.grad, g.weight, {g.strides, g.padding, g.padding, g.dilations, rest, g.groups, !g.transposed});
}

/// Images and channels change places, and so do strides and dilations.
Value convWeightGradient(LowerContext &ctx, const ConvGradient &g) {
  Value wide = g.transposed ? g.grad : g.x, narrow = g.transposed ? g.x : g.grad;
  SmallVector<int64_t> none(g.strides.size(), 0);
  SmallVector<Value> parts;
  int64_t wideStep = shapeOf(wide)[1] / g.groups, narrowStep = shapeOf(narrow)[1] / g.groups;
  for (int64_t group = 0; group < g.groups; ++group) {
    Value left = ctx.slice(wide, 1, group * wideStep, (group + 1) * wideStep);
    Value right = ctx.slice(narrow, 1, group * narrowStep, (group + 1) * narrowStep);
    Value part = convolve(ctx, ctx.transpose(left, 0, 1), ctx.transpose(right, 0, 1),
                          {g.dilations, g.padding, g.padding, g.strides, none, 1, false});
    if (!part)
      return {};                               // convolve said why
    for (int64_t i = 2; i < rankOf(part); ++i) // positions that no step of the convolution reaches
      part = ctx.slice(part, i, 0, shapeOf(g.weight)[i]);
    parts.push_back(ctx.transpose(part, 0, 1));
  }
  return ctx.concat(parts, 0);
}

/// Nullopt after refusing.
std::optional<ConvGradient> readConvGradient(LowerContext &ctx) {
  ConvGradient g;
  Value x = ctx.tensor("input"), weight = ctx.tensor("weight");
  Type compute = computeType(dtypeOf(x));
  g.grad = ctx.cast(ctx.tensor("grad_output"), compute);
  g.x = ctx.cast(x, compute);
  g.weight = ctx.cast(weight, compute);
  int64_t rank = rankOf(weight);
  bool isKnown = tensorType(weight).hasStaticShape() && tensorType(x).hasStaticShape() &&
                 tensorType(g.grad).hasStaticShape() && rank >= 3 && rank <= 5 && rankOf(x) == rank;
  g.groups = ctx.integer("groups");
  if (!isKnown || g.groups < 1 || g.groups > 64) {
    (void)ctx.refuse("needs known sizes, and at most 64 groups");
    return std::nullopt;
  }
  size_t spatial = static_cast<size_t>(rank) - 2;
  g.strides = ctx.integers("stride", spatial, 1);
  g.padding = ctx.integers("padding", spatial, 0);
  g.dilations = ctx.integers("dilation", spatial, 1);
  g.transposed = ctx.flag("transposed");
  return g;
}

} // namespace

LogicalResult lowerConvolutionBackward(LowerContext &ctx) {
  std::optional<ConvGradient> g = readConvGradient(ctx);
  if (!g)
    return failure(); // readConvGradient said why
  SmallVector<Value> results(3);
  if (ctx.isUsed(0))
    results[0] = convInputGradient(ctx, *g);
  if (ctx.isUsed(1))
    results[1] = convWeightGradient(ctx, *g);
  if (ctx.isUsed(2)) {
    SmallVector<int64_t> dims = axisRange(0, rankOf(g->grad));
    dims.erase(dims.begin() + 1);
    results[2] = ctx.dropDims(ctx.reduce(ReduceKind::Sum, g->grad, dims), dims);
  }
  if (ctx.isRefused())
    return failure();
  for (auto [i, result] : llvm::enumerate(results))
    if (result)
      result = ctx.cast(result, ctx.resultDtype(i));
  return ctx.replace(results);
}

} // namespace ingot::lower
