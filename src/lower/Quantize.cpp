// Numbers as small integers with a scale and a zero point: quantized_decomposed, torchao and fake quantisation. Each
// follows the arithmetic of its reference, promotion of types included.
#include "lower/Elementwise.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ingot::lower {

namespace {

/// Arithmetic as PyTorch's operators do it. A null operand has been refused before.
class Arithmetic {
public:
  explicit Arithmetic(LowerContext &ctx) : ctx(ctx) {}

  template <typename Op> Value apply(const Operand &a, const Operand &b) {
    auto pair = promotePair(ctx, a, b, Types::NoComplex);
    return pair ? ctx.binary<Op>(pair->a, pair->b) : ctx.constant(0, ctx.f32());
  }
  Value add(const Operand &a, const Operand &b) { return apply<AddOp>(a, b); }
  Value sub(const Operand &a, const Operand &b) { return apply<SubOp>(a, b); }
  Value mul(const Operand &a, const Operand &b) { return apply<MulOp>(a, b); }
  Value div(const Operand &a, const Operand &b) {
    auto pair = promotePair(ctx, a, b, Types::ToFloat);
    return pair ? ctx.binary<DivOp>(pair->a, pair->b) : ctx.constant(0, ctx.f32());
  }
  Value round(Value x) { return isIntegral(dtypeOf(x)) ? x : ctx.unary<RoundOp>(x); }
  Value inverse(Value scale) { return div(Number::of(1.0), scale); }
  Value clamp(Value x, const Operand &low, const Operand &high) {
    return apply<MinimumOp>(apply<MaximumOp>(x, low), high);
  }

private:
  LowerContext &ctx;
};

Type typeArgument(LowerContext &ctx, StringRef name, Type fallback) {
  auto type = ctx.has(name) ? dyn_cast<TypeAttr>(ctx.attr(name)) : TypeAttr();
  return type ? type.getValue() : fallback;
}

/// One number a channel, along `axis` of `like`.
Value alongAxis(LowerContext &ctx, Value x, Value like, int64_t axis) {
  Sizes shape(rankOf(like), Size(1));
  if (axis < rankOf(like) && rankOf(x) == 1)
    shape[axis] = ctx.dim(x, 0);
  return ctx.reshape(x, shape);
}

Value asFloat32(LowerContext &ctx, Value x) { return isReducedFloat(dtypeOf(x)) ? ctx.cast(x, ctx.f32()) : x; }

/// round(x / scale) + zero point, within the bounds.
Value quantized(LowerContext &ctx, Value x, const Operand &inverse, const Operand &zeroPoint) {
  Arithmetic math(ctx);
  Value steps = math.add(math.round(math.mul(x, inverse)), zeroPoint);
  return math.clamp(steps, ctx.operand("quant_min"), ctx.operand("quant_max"));
}

} // namespace

//===------------------------------------------------------------------------------------------===//
// One scale a tensor, a channel, a token, a group
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerQuantizePerTensor(LowerContext &ctx) {
  Value x = asFloat32(ctx, ctx.tensor("input"));
  Type dtype = typeArgument(ctx, "dtype", ctx.resultDtype());
  Operand scale = ctx.operand("scale");
  Operand inverse = Number::of(1.0);
  if (scale.isTensor())
    inverse = Arithmetic(ctx).inverse(ctx.reshape(scale.tensor, {}));
  else
    inverse = Number::of(1.0 / ctx.real("scale"));
  Operand zeroPoint = ctx.operand("zero_point");
  if (zeroPoint.isTensor())
    zeroPoint = Operand(ctx.reshape(zeroPoint.tensor, {}));
  return ctx.replace(ctx.cast(quantized(ctx, x, inverse, zeroPoint), dtype));
}

LogicalResult lowerDequantizePerTensor(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.cast(ctx.tensor("input"), typeArgument(ctx, "out_dtype", ctx.f32()));
  Operand scale = ctx.operand("scale"), zeroPoint = ctx.operand("zero_point");
  auto asScalar = [&](const Operand &operand) {
    return operand.isTensor() ? Operand(ctx.reshape(operand.tensor, {})) : operand;
  };
  Value result = math.mul(math.sub(x, asScalar(zeroPoint)), asScalar(scale));
  return ctx.replace(ctx.cast(result, ctx.resultDtype()));
}

LogicalResult lowerQuantizePerChannel(LowerContext &ctx) {
  Value x = asFloat32(ctx, ctx.tensor("input"));
  int64_t axis = ctx.axis("axis", rankOf(x));
  Value inverse = Arithmetic(ctx).inverse(alongAxis(ctx, ctx.tensor("scales"), x, axis));
  Value zeroPoints = alongAxis(ctx, ctx.tensor("zero_points"), x, axis);
  return ctx.replace(ctx.cast(quantized(ctx, x, inverse, zeroPoints), ctx.resultDtype()));
}

LogicalResult lowerDequantizePerChannel(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input");
  int64_t axis = ctx.axis("axis", rankOf(x));
  Value scales = alongAxis(ctx, ctx.tensor("scales"), x, axis);
  if (Value zeroPoints = ctx.optionalTensor("zero_points"))
    x = math.sub(x, alongAxis(ctx, zeroPoints, x, axis));
  return ctx.replace(ctx.cast(math.mul(x, scales), ctx.resultDtype()));
}

LogicalResult lowerFakeQuantPerChannel(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input");
  int64_t axis = ctx.axis("axis", rankOf(x));
  Value scales = alongAxis(ctx, ctx.cast(ctx.tensor("scales"), ctx.f32()), x, axis);
  Value zeroPoints = alongAxis(ctx, ctx.cast(ctx.tensor("zero_points"), ctx.builder.getI32Type()), x, axis);
  Value steps = quantized(ctx, x, math.inverse(scales), zeroPoints);
  return ctx.replace(ctx.cast(math.mul(math.sub(steps, zeroPoints), scales), ctx.resultDtype()));
}

LogicalResult lowerQuantizePerToken(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value steps = math.mul(ctx.tensor("input"), math.inverse(ctx.tensor("scales")));
  steps = math.round(math.add(steps, ctx.tensor("zero_points")));
  Value result = math.clamp(steps, ctx.operand("quant_min"), ctx.operand("quant_max"));
  return ctx.replace(ctx.cast(result, ctx.resultDtype()));
}

LogicalResult lowerDequantizePerToken(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value steps = math.sub(ctx.tensor("input"), ctx.tensor("zero_points"));
  return ctx.replace(ctx.cast(math.mul(steps, ctx.tensor("scales")), ctx.resultDtype()));
}

namespace {

/// [M, N] as rows of one group each; null after refusing.
Value asGroups(LowerContext &ctx, Value x, Value scales) {
  int64_t group = ctx.integer("group_size");
  if (rankOf(x) != 2 || group < 1 || tensorType(x).isDynamicDim(1)) {
    (void)ctx.refuse("needs a matrix with a known number of columns, and a group size");
    return {};
  }
  int64_t columns = shapeOf(x)[1];
  if (group > columns && rankOf(scales) > 0 && shapeOf(scales).back() == 1)
    group = columns;
  if (columns % group != 0) {
    (void)ctx.refuse("the columns are no whole groups");
    return {};
  }
  return ctx.reshape(x, {ctx.times(ctx.dim(x, 0), columns / group), Size(group)});
}

Value asColumn(LowerContext &ctx, Value x) {
  return ctx.reshape(x, {ctx.numElements(x, axisRange(0, rankOf(x))), Size(1)});
}

} // namespace

LogicalResult lowerQuantizePerGroup(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input"), scales = ctx.tensor("scales");
  Value groups = asGroups(ctx, x, scales);
  if (!groups)
    return failure(); // asGroups said why
  Value steps = math.mul(groups, math.inverse(asColumn(ctx, scales)));
  steps = math.round(math.add(steps, asColumn(ctx, ctx.tensor("zero_points"))));
  Value result = math.clamp(steps, ctx.operand("quant_min"), ctx.operand("quant_max"));
  return ctx.replace(ctx.reshape(ctx.cast(result, ctx.resultDtype()), ctx.sizes(x)));
}

LogicalResult lowerDequantizePerGroup(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input"), scales = ctx.tensor("scales");
  Value steps = asGroups(ctx, x, scales);
  if (!steps)
    return failure(); // asGroups said why
  Value zeroPoints = ctx.optionalTensor("zero_points");
  steps = math.sub(steps, zeroPoints ? asColumn(ctx, zeroPoints) : ctx.constant(0, ctx.builder.getI32Type()));
  Value result = math.mul(steps, asColumn(ctx, scales));
  return ctx.replace(ctx.cast(ctx.reshape(result, ctx.sizes(x)), ctx.resultDtype()));
}

//===------------------------------------------------------------------------------------------===//
// Choosing scales
//===------------------------------------------------------------------------------------------===//

namespace {

Value extremeOfAll(LowerContext &ctx, ReduceKind kind, Value x) {
  return ctx.reshape(ctx.reduce(kind, x, axisRange(0, rankOf(x))), {Size(1)});
}

} // namespace

LogicalResult lowerChooseQparams(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input");
  Value low = ctx.binary<MinimumOp>(extremeOfAll(ctx, ReduceKind::Min, x), 0);
  Value high = ctx.binary<MaximumOp>(extremeOfAll(ctx, ReduceKind::Max, x), 0);
  auto least = static_cast<double>(ctx.integer("quant_min")), most = static_cast<double>(ctx.integer("quant_max"));
  bool isSymmetric = ctx.op.getTarget().contains("symmetric");
  Value eps = ctx.constant(ctx.real("eps"), ctx.f32()), scale, zeroPoint;
  if (isSymmetric) {
    Value bound = ctx.binary<MaximumOp>(ctx.unary<NegOp>(low), high);
    scale = math.apply<MaximumOp>(math.div(bound, Number::of((most - least) / 2)), ctx.reshape(eps, {Size(1)}));
    bool isByte = typeArgument(ctx, "dtype", ctx.f32()).isUnsignedInteger(8);
    zeroPoint = ctx.full(Number::of(int64_t{isByte ? 128 : 0}), {Size(1)}, ctx.i64());
  } else {
    scale = math.div(ctx.binary<SubOp>(high, low), Number::of(most - least));
    scale = math.apply<MaximumOp>(scale, ctx.reshape(eps, {Size(1)}));
    Value steps = ctx.cast(math.round(math.div(low, scale)), ctx.builder.getI32Type());
    zeroPoint = math.sub(Number::of(static_cast<int64_t>(least)), steps);
    zeroPoint = math.clamp(zeroPoint, Number::of(static_cast<int64_t>(least)), Number::of(static_cast<int64_t>(most)));
  }
  return ctx.replace({ctx.cast(scale, ctx.resultDtype(0)), ctx.cast(zeroPoint, ctx.resultDtype(1))});
}

LogicalResult lowerChooseQparamsPerToken(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input");
  if (rankOf(x) == 0)
    return ctx.refuse("needs rows");
  Value peak = ctx.reduce(ReduceKind::Max, ctx.unary<AbsOp>(x), rankOf(x) - 1);
  if (dtypeOf(peak).isF16())
    peak = ctx.cast(peak, ctx.f32());
  Value scale = math.div(ctx.binary<MaximumOp>(peak, 1e-5), Number::of(int64_t{127}));
  Value zeros = ctx.full(Number::of(int64_t{0}), ctx.sizes(scale), ctx.resultDtype(1));
  return ctx.replace({ctx.cast(scale, ctx.resultDtype(0)), zeros});
}

LogicalResult lowerChooseQparamsPerTokenAsymmetric(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input");
  if (rankOf(x) == 0)
    return ctx.refuse("needs rows");
  constexpr double kLeast = -128, kMost = 127;
  Value low = ctx.binary<MinimumOp>(ctx.reduce(ReduceKind::Min, x, rankOf(x) - 1), 0);
  Value high = ctx.binary<MaximumOp>(ctx.reduce(ReduceKind::Max, x, rankOf(x) - 1), 0);
  Value scale = math.div(ctx.binary<SubOp>(high, low), Number::of(kMost - kLeast));
  scale = ctx.binary<MaximumOp>(scale, static_cast<double>(std::numeric_limits<float>::epsilon()));
  Value below = math.div(low, scale), above = math.div(high, scale);
  Value balance = ctx.binary<AddOp>(ctx.binary<AddOp>(below, kLeast), ctx.binary<AddOp>(above, kMost));
  Type dtype = dtypeOf(below);
  Value fromLow = ctx.binary<SubOp>(ctx.constant(kLeast, dtype), below);
  Value fromHigh = ctx.binary<SubOp>(ctx.constant(kMost, dtype), above);
  Value zeroPoint = ctx.select(ctx.compare<GtOp>(balance, 0), fromLow, fromHigh);
  zeroPoint = math.round(math.clamp(zeroPoint, Number::of(kLeast), Number::of(kMost)));
  return ctx.replace({ctx.cast(scale, ctx.resultDtype(0)), ctx.cast(zeroPoint, ctx.resultDtype(1))});
}

LogicalResult lowerConvertElementType(LowerContext &ctx) {
  return ctx.replace(ctx.cast(ctx.tensor("input"), ctx.resultDtype()));
}

//===------------------------------------------------------------------------------------------===//
// Fake quantisation: there and back
//===------------------------------------------------------------------------------------------===//

namespace {

/// The result, and where the steps were within their bounds.
LogicalResult fakeQuantize(LowerContext &ctx, Value scale, Value zeroPoint) {
  Value x = ctx.tensor("self");
  if (!isFloat(dtypeOf(x)))
    return ctx.refuse("needs floating-point numbers");
  Type compute = computeType(dtypeOf(x));
  scale = ctx.cast(scale, compute);
  zeroPoint = ctx.cast(zeroPoint, compute);
  Value inverse = ctx.binary<DivOp>(ctx.constant(1, compute), scale);
  Value steps = ctx.unary<RoundOp>(ctx.binary<MulOp>(ctx.cast(x, compute), inverse));
  steps = ctx.binary<AddOp>(steps, zeroPoint);
  auto least = static_cast<double>(ctx.integer("quant_min")), most = static_cast<double>(ctx.integer("quant_max"));
  Value bounded = ctx.binary<MinimumOp>(ctx.binary<MaximumOp>(steps, least), most);
  Value result = ctx.cast(ctx.binary<MulOp>(ctx.binary<SubOp>(bounded, zeroPoint), scale), dtypeOf(x));
  if (ctx.numResults() == 1)
    return ctx.replace(result);
  Value isInside = ctx.binary<BitwiseAndOp>(ctx.compare<GeOp>(steps, least), ctx.compare<LeOp>(steps, most));
  return ctx.replace({result, isInside});
}

} // namespace

LogicalResult lowerFakeQuantizePerTensor(LowerContext &ctx) {
  if (ctx.has("fake_quant_enabled"))
    return ctx.refuse("whether it is enabled must be known while converting");
  Operand scale = ctx.operand("scale"), zeroPoint = ctx.operand("zero_point");
  Value factor = scale.isTensor() ? ctx.reshape(scale.tensor, {}) : ctx.constant(scale.number, ctx.f32());
  Value offset = zeroPoint.isTensor() ? ctx.reshape(zeroPoint.tensor, {}) : ctx.constant(zeroPoint.number, ctx.f32());
  return fakeQuantize(ctx, factor, offset);
}

LogicalResult lowerFakeQuantizePerChannel(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t axis = ctx.axis("axis", rankOf(x));
  Value scale = alongAxis(ctx, ctx.tensor("scale"), x, axis);
  return fakeQuantize(ctx, scale, alongAxis(ctx, ctx.tensor("zero_point"), x, axis));
}

//===------------------------------------------------------------------------------------------===//
// torchao: one scale for each block of the tensor
//===------------------------------------------------------------------------------------------===//

namespace {

struct Blocks {
  Sizes shape;      ///< every dimension as its blocks and what is inside one
  Sizes scaleShape; ///< of one number a block
  SmallVector<int64_t> inside;
};

/// Nullopt after refusing.
std::optional<Blocks> readBlocks(LowerContext &ctx, Value x) {
  Sizes sizes = ctx.sizeList("block_size");
  if (static_cast<int64_t>(sizes.size()) != rankOf(x)) {
    (void)ctx.refuse("needs a block size for every dimension");
    return std::nullopt;
  }
  Blocks blocks;
  for (int64_t i = 0; i < rankOf(x); ++i) {
    Size count = ctx.floorDiv(ctx.dim(x, i), sizes[i]);
    blocks.inside.push_back(static_cast<int64_t>(blocks.shape.size()) + 1);
    blocks.shape.push_back(count);
    blocks.shape.push_back(sizes[i]);
    blocks.scaleShape.push_back(count);
    blocks.scaleShape.push_back(Size(1));
  }
  return blocks;
}

/// The least and the largest value of a type of integers.
std::pair<double, double> integerBounds(LowerContext &ctx, Type dtype) {
  auto integer = dyn_cast<IntegerType>(dtype);
  unsigned width = integer ? integer.getWidth() : 8;
  bool isUnsigned = integer && integer.isUnsigned();
  double low = isUnsigned ? 0 : -std::ldexp(1.0, static_cast<int>(width) - 1);
  double high = std::ldexp(1.0, static_cast<int>(width) - (isUnsigned ? 0 : 1)) - 1;
  if (ctx.has("quant_min") && !ctx.isNone("quant_min"))
    low = ctx.number("quant_min").asDouble();
  if (ctx.has("quant_max") && !ctx.isNone("quant_max"))
    high = ctx.number("quant_max").asDouble();
  return {low, high};
}

bool hasIntegerZeroPoints(LowerContext &ctx) {
  if (!ctx.has("zero_point_domain") || ctx.isNone("zero_point_domain"))
    return true;
  return ctx.string("zero_point_domain") == "INT" || ctx.string("zero_point_domain") == "NONE";
}

} // namespace

LogicalResult lowerQuantizeAffine(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input");
  std::optional<Blocks> blocks = readBlocks(ctx, x);
  if (!blocks || !hasIntegerZeroPoints(ctx))
    return ctx.refuse("zero points must be integers");
  Type dtype = typeArgument(ctx, "output_dtype", ctx.resultDtype());
  auto [least, most] = integerBounds(ctx, dtype);
  Value scale = ctx.reshape(ctx.tensor("scale"), blocks->scaleShape);
  Value steps = math.round(math.mul(ctx.reshape(x, blocks->shape), math.inverse(scale)));
  if (Value zeroPoint = ctx.optionalTensor("zero_point"))
    steps = math.add(steps, ctx.reshape(zeroPoint, blocks->scaleShape));
  Value result = math.clamp(steps, Number::of(least), Number::of(most));
  return ctx.replace(ctx.cast(ctx.reshape(result, ctx.sizes(x)), dtype));
}

LogicalResult lowerDequantizeAffine(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input");
  std::optional<Blocks> blocks = readBlocks(ctx, x);
  if (!blocks || !hasIntegerZeroPoints(ctx))
    return ctx.refuse("zero points must be integers");
  Type dtype = typeArgument(ctx, "output_dtype", ctx.f32()), i32 = ctx.builder.getI32Type();
  Value steps = ctx.cast(ctx.reshape(x, blocks->shape), i32);
  if (Value zeroPoint = ctx.optionalTensor("zero_point"))
    steps = ctx.binary<SubOp>(steps, ctx.cast(ctx.reshape(zeroPoint, blocks->scaleShape), i32));
  Value result = math.mul(ctx.cast(steps, dtype), ctx.reshape(ctx.tensor("scale"), blocks->scaleShape));
  return ctx.replace(ctx.cast(ctx.reshape(result, ctx.sizes(x)), dtype));
}

LogicalResult lowerChooseQparamsAffine(LowerContext &ctx) {
  Arithmetic math(ctx);
  Value x = ctx.tensor("input");
  std::optional<Blocks> blocks = readBlocks(ctx, x);
  if (!blocks)
    return failure(); // readBlocks said why
  StringRef mapping = ctx.string("mapping_type");
  if (mapping != "SYMMETRIC" && mapping != "ASYMMETRIC")
    return ctx.refuse("the mapping must be SYMMETRIC or ASYMMETRIC");
  auto [least, most] = integerBounds(ctx, typeArgument(ctx, "target_dtype", ctx.builder.getIntegerType(8)));
  Value split = ctx.reshape(x, blocks->shape);
  Value low = ctx.binary<MinimumOp>(ctx.reduce(ReduceKind::Min, split, blocks->inside), 0);
  Value high = ctx.binary<MaximumOp>(ctx.reduce(ReduceKind::Max, split, blocks->inside), 0);
  double eps = ctx.optionalReal("eps").value_or(std::numeric_limits<float>::epsilon());
  Value scale, zeroPoint;
  if (mapping == "SYMMETRIC") {
    scale = ctx.binary<MaximumOp>(ctx.unary<NegOp>(low), high);
    scale = ctx.binary<MaximumOp>(math.div(scale, Number::of((most - least) / 2)), eps);
    zeroPoint = ctx.full(Number::of(static_cast<int64_t>((most + least + 1) / 2)), ctx.sizes(scale), dtypeOf(scale));
  } else {
    scale = ctx.binary<MaximumOp>(math.div(ctx.binary<SubOp>(high, low), Number::of(most - least)), eps);
    zeroPoint = math.sub(Number::of(least), math.round(math.div(low, scale)));
    zeroPoint = math.clamp(zeroPoint, Number::of(least), Number::of(most));
  }
  Sizes shape;
  bool keeps = ctx.has("keepdim") && ctx.flag("keepdim");
  for (int64_t i = 0; i < rankOf(x); ++i) // a dimension that is one block goes away
    if (Size count = blocks->shape[2 * i]; keeps || !count.is(1) || blocks->shape[2 * i + 1].is(1))
      shape.push_back(count);
  if (static_cast<int64_t>(shape.size()) != ctx.resultType().getRank())
    return ctx.refuse("the number of blocks must be known here");
  return ctx.replace({ctx.cast(ctx.reshape(scale, shape), ctx.resultDtype(0)),
                      ctx.cast(ctx.reshape(zeroPoint, shape), ctx.resultDtype(1))});
}

} // namespace ingot::lower
