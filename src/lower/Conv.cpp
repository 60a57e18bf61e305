// Convolutions over one to three dimensions.
#include "lower/Complex.h"
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

namespace {

struct Conv {
  Value x, weight, bias;
  size_t spatial = 0;
  SmallVector<int64_t> strides, low, high, dilations, outputPadding;
  int64_t groups = 1;
  bool transposed = false;
};

/// What all overloads share; nullopt after refusing.
std::optional<Conv> readConv(LowerContext &ctx) {
  Conv conv;
  conv.x = ctx.tensor("input");
  conv.weight = ctx.tensor("weight");
  conv.bias = ctx.optionalTensor("bias");
  if (rankOf(conv.weight) < 3 || rankOf(conv.weight) > 5) {
    (void)ctx.refuse("only one to three spatial dimensions are supported");
    return std::nullopt;
  }
  conv.spatial = rankOf(conv.weight) - 2;
  conv.strides = ctx.integers("stride", conv.spatial, 1);
  conv.dilations = ctx.integers("dilation", conv.spatial, 1);
  conv.outputPadding.assign(conv.spatial, 0);
  if (ctx.has("output_padding"))
    conv.outputPadding = ctx.integers("output_padding", conv.spatial, 0);
  conv.groups = ctx.integer("groups");
  return conv;
}

/// `padding` as numbers, or as "same" and "valid".
LogicalResult readPadding(LowerContext &ctx, Conv &conv) {
  auto mode = dyn_cast<StringAttr>(ctx.attr("padding"));
  if (!mode) {
    conv.low = conv.high = ctx.integers("padding", conv.spatial, 0);
    return success();
  }
  conv.low.assign(conv.spatial, 0);
  conv.high.assign(conv.spatial, 0);
  if (mode.getValue() == "valid")
    return success();
  if (mode.getValue() != "same")
    return ctx.refuse("padding '" + mode.getValue() + "' is unknown");
  for (size_t i = 0; i < conv.spatial; ++i) {
    int64_t kernel = shapeOf(conv.weight)[i + 2];
    if (kernel == kDynamicEntry)
      return ctx.refuse("the size of the kernel must be known here");
    int64_t total = conv.dilations[i] * (kernel - 1);
    conv.low[i] = total / 2;
    conv.high[i] = total - conv.low[i];
  }
  return success();
}

/// float16 and bfloat16 are computed in float32, and rounded once.
void widen(LowerContext &ctx, Conv &conv) {
  Type compute = computeType(dtypeOf(conv.x));
  conv.x = ctx.cast(conv.x, compute);
  conv.weight = ctx.cast(conv.weight, compute);
  if (conv.bias)
    conv.bias = ctx.cast(conv.bias, compute);
}

/// The convolution of `x` as `type`. A complex one is three real ones, as in PyTorch, so that it rounds alike.
Value convolve(LowerContext &ctx, const Conv &conv, RankedTensorType type, Value x, Value weight, Value bias) {
  if (isIntegral(type.getElementType())) { // exact as long as sums stay below 2^53
    auto wide = [&](Value value) { return value ? ctx.cast(value, ctx.builder.getF64Type()) : Value(); };
    RankedTensorType wideType = type.clone(ctx.builder.getF64Type());
    Value result = convolve(ctx, conv, wideType, wide(x), wide(weight), wide(bias));
    return ctx.cast(ctx.cast(result, ctx.i64()), type.getElementType());
  }
  if (!isComplex(type.getElementType()))
    return ctx
        .create<ConvOp>(type, x, weight, bias, Value(), conv.strides, conv.low, conv.high, conv.dilations,
                        conv.outputPadding, conv.groups, conv.transposed, Activation::None)
        .getResult();
  RankedTensorType part = type.clone(realType(type.getElementType()));
  Value xr = realPart(ctx, x), xi = imagPart(ctx, x), wr = realPart(ctx, weight), wi = imagPart(ctx, weight);
  Value br = bias ? realPart(ctx, bias) : Value();
  Value bothBiases = bias ? ctx.binary<AddOp>(br, imagPart(ctx, bias)) : Value();
  Value reals = convolve(ctx, conv, part, xr, wr, br), imags = convolve(ctx, conv, part, xi, wi, Value());
  Value both = convolve(ctx, conv, part, ctx.binary<AddOp>(xr, xi), ctx.binary<AddOp>(wr, wi), bothBiases);
  Value imag = ctx.binary<SubOp>(ctx.binary<SubOp>(both, reals), imags);
  return makeComplex(ctx, ctx.binary<SubOp>(reals, imags), imag);
}

LogicalResult emitConv(LowerContext &ctx, Conv &conv) {
  Type dtype = dtypeOf(conv.x);
  // Of no channels eager makes none, whatever the weight says.
  ArrayRef<int64_t> declared = ctx.resultType().getShape();
  if (!ShapedType::isDynamicShape(declared) && llvm::is_contained(declared, 0))
    return ctx.replace(ctx.full(Number::of(int64_t{0}), Sizes(declared.begin(), declared.end()), dtype));
  if (dtypeOf(conv.weight) == dtype && isReducedFloat(dtype))
    widen(ctx, conv);
  bool isBatched = rankOf(conv.x) == static_cast<int64_t>(conv.spatial) + 2;
  if (!isBatched && rankOf(conv.x) != static_cast<int64_t>(conv.spatial) + 1)
    return ctx.refuse("the operand's rank does not fit the weight's");
  Value x = isBatched ? conv.x : ctx.insertDim(conv.x, 0);
  ConvShape shape{conv.strides, conv.low, conv.high, conv.dilations, conv.outputPadding, conv.groups, conv.transposed};
  RankedTensorType type = convType(tensorType(x), tensorType(conv.weight), shape);
  if (!type)
    return ctx.refuse("the shapes of operand and weight do not fit together");
  Value result = convolve(ctx, conv, type, x, conv.weight, conv.bias);
  return ctx.replace(ctx.cast(isBatched ? result : ctx.dropDims(result, {0}), dtype));
}

LogicalResult lowerAnyConv(LowerContext &ctx, bool transposed) {
  std::optional<Conv> conv = readConv(ctx);
  if (!conv || failed(readPadding(ctx, *conv)))
    return failure(); // they said why
  conv->transposed = transposed;
  return emitConv(ctx, *conv);
}

} // namespace

LogicalResult lowerConv(LowerContext &ctx) { return lowerAnyConv(ctx, /*transposed=*/false); }
LogicalResult lowerConvTranspose(LowerContext &ctx) { return lowerAnyConv(ctx, /*transposed=*/true); }
LogicalResult lowerConvolution(LowerContext &ctx) { return lowerAnyConv(ctx, ctx.flag("transposed")); }

} // namespace ingot::lower
