// Verifiers of reductions, normalisations, products and windows.
#include "dialect/Ops.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

namespace ingot {

LogicalResult ReduceOp::verify() {
  bool logical = getKind() == ReduceKind::Any || getKind() == ReduceKind::All;
  Type element = logical ? IntegerType::get(getContext(), 1) : Type();
  return verifyResultType(*this, reduceType(getX().getType(), getDims(), element), getType());
}

LogicalResult ArgReduceOp::verify() {
  Type element = IntegerType::get(getContext(), 64);
  return verifyResultType(*this, reduceType(getX().getType(), getAxis(), element), getType());
}

LogicalResult CumsumOp::verify() {
  if (failed(verifyAxis(*this, getAxis(), getX().getType().getRank())))
    return failure();
  return verifyResultType(*this, getX().getType(), getType());
}

LogicalResult SoftmaxOp::verify() {
  if (failed(verifyAxis(*this, getAxis(), getX().getType().getRank())))
    return failure();
  if (!isFloat(getX().getType().getElementType()))
    return emitOpError("operand must be of floating-point numbers");
  return verifyResultType(*this, getX().getType(), getType());
}

/// Scale and shift of a normalisation: absent, or floating point of the given shape.
static LogicalResult verifyAffine(Operation *op, Value value, ShapeRef shape, StringRef what) {
  if (!value)
    return success();
  auto type = cast<RankedTensorType>(value.getType());
  if (!shapesAgree(type.getShape(), shape) || !isFloat(type.getElementType()))
    return op->emitOpError() << what << " must have shape " << shapeText(shape) << " and a floating-point type";
  return success();
}

LogicalResult LayerNormOp::verify() {
  RankedTensorType type = getX().getType();
  auto rank = static_cast<int64_t>(getRank());
  if (rank < 1 || rank > type.getRank())
    return emitOpError("rank must be between 1 and the operand's");
  if (!isFloat(type.getElementType()))
    return emitOpError("operand must be of floating-point numbers");
  ShapeRef inner = type.getShape().take_back(rank);
  if (failed(verifyAffine(*this, getWeight(), inner, "weight")) ||
      failed(verifyAffine(*this, getBias(), inner, "bias")))
    return failure();
  return verifyResultType(*this, type, getType());
}

LogicalResult GroupNormOp::verify() {
  RankedTensorType type = getX().getType();
  if (type.getRank() < 2)
    return emitOpError("operand needs a dimension of channels");
  auto groups = static_cast<int64_t>(getGroups());
  if (groups < 1 || (!type.isDynamicDim(1) && type.getDimSize(1) % groups != 0))
    return emitOpError("channels cannot be divided into ") << groups << " groups";
  ShapeRef channels = type.getShape().slice(1, 1);
  if (failed(verifyAffine(*this, getWeight(), channels, "weight")) ||
      failed(verifyAffine(*this, getBias(), channels, "bias")))
    return failure();
  return verifyResultType(*this, type, getType());
}

LogicalResult MatmulOp::verify() {
  Type element = getA().getType().getElementType();
  // Products of 8-bit integers may be accumulated, and given, in 32 bits.
  bool widened = isInteger(element) && element.getIntOrFloatBitWidth() == 8 && getType().getElementType().isInteger(32);
  if (failed(verifyResultType(*this, matmulType(getA().getType(), getB().getType()), getType(),
                              /*anyElement=*/widened)))
    return failure();
  ShapeRef shape = getType().getShape();
  if (Value bias = getBias()) {
    std::optional<Shape> common = broadcastShapes(getBias().getType().getShape(), shape);
    if (!common || !shapesAgree(*common, shape))
      return emitOpError("bias does not broadcast to the result");
  }
  if (Value residual = getResidual(); residual && !shapesAgree(getResidual().getType().getShape(), shape))
    return emitOpError("residual must have the result's shape");
  return success();
}

LogicalResult GatherMatmulOp::verify() {
  RankedTensorType a = getA().getType(), table = getTable().getType();
  if (a.getRank() < 2 || table.getRank() != 3 || !a.getElementType().isF32() || !table.getElementType().isF32())
    return emitOpError("needs matrices [..., M, K] and a table [R, K, N] of type f32");
  RankedTensorType chosen = indexSelectType(table, getIndices().getType(), 0);
  return verifyResultType(*this, chosen ? matmulType(a, chosen) : RankedTensorType(), getType());
}

/// A bias has one element a channel of the result, and a residual its shape.
static LogicalResult verifyAdditions(Operation *op, RankedTensorType result, Value bias, Value residual) {
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  if (bias && !shapesAgree(shapeOf(bias), result.getShape().slice(1, 1)))
    return op->emitOpError("bias must have one element a channel of the result");
  if (residual && !shapesAgree(shapeOf(residual), result.getShape()))
    return op->emitOpError("residual must have the result's shape");
  return success();
}

LogicalResult ConvOp::verify() {
  ConvShape conv{.strides = getStrides(),
                 .padLow = getPadLow(),
                 .padHigh = getPadHigh(),
                 .dilations = getDilations(),
                 .outputPadding = getOutputPadding(),
                 .groups = static_cast<int64_t>(getGroups()),
                 .transposed = getTransposed()};
  RankedTensorType expected = convType(getX().getType(), getWeight().getType(), conv);
  if (failed(verifyResultType(*this, expected, getType())))
    return failure();
  return verifyAdditions(*this, expected, getBias(), getResidual());
}

/// Of a convolution with 1x1 filters of an image of type f32; null where it is none.
static RankedTensorType pointwiseType(RankedTensorType x, RankedTensorType weight) {
  if (x.getRank() != 4 || !x.getElementType().isF32() || weight.getRank() != 4 || weight.getDimSize(2) != 1 ||
      weight.getDimSize(3) != 1)
    return {};
  static constexpr int64_t ones[] = {1, 1}, zeros[] = {0, 0};
  return convType(x, weight,
                  {.strides = ones, .padLow = zeros, .padHigh = zeros, .dilations = ones, .outputPadding = zeros});
}

LogicalResult ScaledPointwiseOp::verify() {
  RankedTensorType x = getX().getType(), factors = getFactors().getType();
  if (failed(verifyResultType(*this, pointwiseType(x, getWeight().getType()), getType())))
    return failure();
  bool fits =
      factors.getRank() == 4 && factors.getElementType() == x.getElementType() &&
      (factors.getDimSize(0) == 1 || shapesAgree(factors.getShape().take_front(1), x.getShape().take_front(1))) &&
      shapesAgree(factors.getShape().slice(1, 1), x.getShape().slice(1, 1)) && factors.getDimSize(2) == 1 &&
      factors.getDimSize(3) == 1;
  if (!fits)
    return emitOpError("factors must have one element a channel");
  return verifyAdditions(*this, getType(), getBias(), getResidual());
}

LogicalResult DepthwiseBlockOp::verify() {
  RankedTensorType image = getX().getType();
  if (image.getRank() != 4 || !image.getElementType().isF32())
    return emitOpError("operand must be an image [N, C, H, W] of type f32");
  if (Value expand = getExpandWeight()) {
    image = pointwiseType(image, cast<RankedTensorType>(expand.getType()));
    if (!image || failed(verifyAdditions(*this, image, getExpandBias(), {})))
      return emitOpError("the first convolution does not fit");
  }
  if (image.isDynamicDim(1))
    return emitOpError("the number of channels must be known");
  static constexpr int64_t zeros[] = {0, 0};
  ConvShape conv{.strides = getStrides(),
                 .padLow = getPadLow(),
                 .padHigh = getPadHigh(),
                 .dilations = getDilations(),
                 .outputPadding = zeros,
                 .groups = image.getDimSize(1)};
  RankedTensorType result = getResult().getType();
  if (failed(verifyResultType(*this, convType(image, getWeight().getType(), conv), result)) ||
      failed(verifyAdditions(*this, result, getBias(), {})))
    return failure();
  if (getWeight().getType().getDimSize(0) != image.getDimSize(1))
    return emitOpError("there must be one filter a channel");
  Shape means = {result.getDimSize(0), result.getDimSize(1), 1, 1};
  for (Value mean : getMeans())
    if (getMeans().size() > 1 || !shapesAgree(cast<RankedTensorType>(mean.getType()).getShape(), means))
      return emitOpError("the second result must have the means, of which there is one for each channel");
  return success();
}

LogicalResult AttentionOp::verify() {
  RankedTensorType q = getQ().getType(), k = getK().getType(), v = getV().getType();
  int64_t rank = q.getRank();
  if (rank < 3 || k.getRank() != rank || v.getRank() != rank)
    return emitOpError("q, k and v must have one rank, at least 3");
  if (!isFloat(q.getElementType()) || q.getElementType() != k.getElementType() ||
      q.getElementType() != v.getElementType())
    return emitOpError("q, k and v must be of one floating-point type");
  int64_t heads = q.getDimSize(rank - 3), groups = k.getDimSize(rank - 3);
  bool known = !q.isDynamicDim(rank - 3) && !k.isDynamicDim(rank - 3);
  if (known && heads != groups && (groups == 0 || heads % groups != 0))
    return emitOpError("the heads of q must be a multiple of those of k and v");
  if (!shapesAgree(q.getShape().back(), k.getShape().back()) ||
      !shapesAgree(k.getShape().drop_back(), v.getShape().drop_back()) ||
      !shapesAgree(q.getShape().drop_back(3), k.getShape().drop_back(3)))
    return emitOpError("shapes of q, k and v do not fit together");
  if (Value mask = getMask()) {
    Shape scores(q.getShape());
    scores.back() = k.getDimSize(rank - 2);
    std::optional<Shape> common = broadcastShapes(getMask().getType().getShape(), scores);
    if (!common || !shapesAgree(*common, scores))
      return emitOpError("mask does not broadcast to ") << shapeText(scores);
  }
  return verifyResultType(*this, attentionType(q, v), getType());
}

RankedTensorType poolType(RankedTensorType x, const PoolLists &pool) {
  size_t spatial = pool.kernel.size(), rank = x.getRank();
  bool fits = spatial >= 1 && rank > spatial && pool.strides.size() == spatial && pool.padding.size() == spatial &&
              pool.dilations.size() == spatial;
  if (!fits)
    return {};
  Shape shape(x.getShape());
  for (size_t i = 0; i < spatial; ++i) {
    int64_t &size = shape[rank - spatial + i];
    std::optional<int64_t> count = windowCount(size, {.kernel = pool.kernel[i],
                                                      .stride = pool.strides[i],
                                                      .padLow = pool.padding[i],
                                                      .padHigh = pool.padding[i],
                                                      .dilation = pool.dilations[i],
                                                      .ceilMode = pool.ceilMode});
    if (!count)
      return {};
    size = *count;
  }
  return withShape(x, shape);
}

LogicalResult MaxPoolOp::verify() {
  RankedTensorType expected =
      poolType(getX().getType(), {getKernel(), getStrides(), getPadding(), getDilations(), getCeilMode()});
  if (failed(verifyResultType(*this, expected, getResult().getType())))
    return failure();
  return verifyResultType(*this, withElement(expected, IntegerType::get(getContext(), 64)), getIndices().getType());
}

LogicalResult AvgPoolOp::verify() {
  Shape dilations(getKernel().size(), 1);
  return verifyResultType(
      *this, poolType(getX().getType(), {getKernel(), getStrides(), getPadding(), dilations, getCeilMode()}),
      getType());
}

LogicalResult AdaptiveAvgPoolOp::verify() {
  RankedTensorType type = getX().getType();
  ShapeRef output = getOutput();
  if (output.empty() || static_cast<int64_t>(output.size()) >= type.getRank())
    return emitOpError("operand needs a dimension before its spatial ones");
  Shape shape(type.getShape().drop_back(output.size()));
  llvm::append_range(shape, output);
  return verifyResultType(*this, withShape(type, shape), getType());
}

LogicalResult ResizeOp::verify() {
  RankedTensorType type = getX().getType();
  int64_t spatial = type.getRank() - 2;
  if (spatial < 1 || static_cast<int64_t>(getSizes().size()) != spatial ||
      static_cast<int64_t>(getScales().size()) != spatial)
    return emitOpError("needs a size and a scale for every dimension after the second");
  if (failed(verifyDynamic(*this, getSizes(), getDynamic().size())))
    return failure();
  Shape shape(type.getShape().take_front(2));
  llvm::append_range(shape, getSizes());
  return verifyResultType(*this, withShape(type, shape), getType());
}

} // namespace ingot
