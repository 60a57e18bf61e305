// Complex numbers and their parts.
#include "lower/Complex.h"

#include "dialect/SpecialOps.h"
#include "lower/Elementwise.h"

#include <numbers>

using namespace mlir;

namespace ingot::lower {

Type realType(Type dtype) {
  auto complex = dyn_cast<ComplexType>(dtype);
  return complex ? complex.getElementType() : dtype;
}

/// complex32 is for storage only: its parts are those of complex64.
template <typename Op> static Value partOf(Emitter &emit, Value x) {
  Type part = realType(dtypeOf(x));
  if (isReducedFloat(part))
    return emit.cast(partOf<Op>(emit, emit.cast(x, ComplexType::get(emit.f32()))), part);
  return emit.create<Op>(tensorType(x).clone(part), x).getResult();
}

Value realPart(Emitter &emit, Value x) { return partOf<RealOp>(emit, x); }
Value imagPart(Emitter &emit, Value x) { return partOf<ImagOp>(emit, x); }

Value makeComplex(Emitter &emit, Value real, Value imag) {
  if (Type part = dtypeOf(real); isReducedFloat(part)) {
    Value wide = makeComplex(emit, emit.cast(real, emit.f32()), emit.cast(imag, emit.f32()));
    return emit.cast(wide, ComplexType::get(part));
  }
  Shape shape = commonShape(shapeOf(real), shapeOf(imag));
  auto type = RankedTensorType::get(shape, ComplexType::get(dtypeOf(real)));
  return emit.create<ComplexOp>(type, real, imag).getResult();
}

Value magnitude(Emitter &emit, Value x) {
  return emit.create<AbsOp>(tensorType(x).clone(realType(dtypeOf(x))), x).getResult();
}

Value conjugate(Emitter &emit, Value x) { return isComplex(dtypeOf(x)) ? emit.unary<ConjOp>(x) : x; }

LogicalResult lowerAbs(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  return ctx.replace(magnitude(ctx, x));
}

LogicalResult lowerConj(LowerContext &ctx) { return ctx.replace(conjugate(ctx, ctx.tensor("self"))); }

LogicalResult lowerReal(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  return ctx.replace(isComplex(dtypeOf(x)) ? realPart(ctx, x) : x);
}

LogicalResult lowerImag(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isComplex(dtypeOf(x)))
    return ctx.refuse("real tensors have no imaginary part");
  return ctx.replace(imagPart(ctx, x));
}

LogicalResult lowerComplex(LowerContext &ctx) {
  Value real = ctx.tensor("real"), imag = ctx.tensor("imag");
  if (dtypeOf(real) != dtypeOf(imag) || !isFloat(dtypeOf(real)) || dtypeOf(real).isBF16())
    return ctx.refuse("both parts must be of one type: float16, float32 or float64");
  return ctx.replace(makeComplex(ctx, real, imag));
}

LogicalResult lowerPolar(LowerContext &ctx) {
  Value size = ctx.tensor("abs"), angle = ctx.tensor("angle");
  if (dtypeOf(size) != dtypeOf(angle) || !isFloat(dtypeOf(size)) || isReducedFloat(dtypeOf(size)))
    return ctx.refuse("both must be float32, or both float64");
  Value real = ctx.binary<MulOp>(size, ctx.unary<CosOp>(angle));
  return ctx.replace(makeComplex(ctx, real, ctx.binary<MulOp>(size, ctx.unary<SinOp>(angle))));
}

LogicalResult lowerViewAsReal(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isComplex(dtypeOf(x)))
    return ctx.refuse("the tensor is not complex");
  Value real = ctx.insertDim(realPart(ctx, x), rankOf(x));
  return ctx.replace(ctx.concat({real, ctx.insertDim(imagPart(ctx, x), rankOf(x))}, rankOf(x)));
}

LogicalResult lowerViewAsComplex(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t last = rankOf(x) - 1;
  if (last < 0 || shapeOf(x)[last] != 2 || !isFloat(dtypeOf(x)) || dtypeOf(x).isBF16())
    return ctx.refuse("needs a last dimension of size 2, of float16, float32 or float64");
  auto part = [&](int64_t index) { return ctx.dropDims(ctx.slice(x, last, index, index + 1), {last}); };
  return ctx.replace(makeComplex(ctx, part(0), part(1)));
}

/// The angle of real numbers is 0 or pi.
LogicalResult lowerAngle(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (isComplex(dtypeOf(x)))
    return ctx.replace(ctx.binary<Atan2Op>(imagPart(ctx, x), realPart(ctx, x)));
  x = ctx.cast(x, floatType(dtypeOf(x)));
  Value zero = ctx.constant(0, dtypeOf(x)), pi = ctx.constant(std::numbers::pi, dtypeOf(x));
  Value angle = ctx.select(ctx.compare<LtOp>(x, zero), pi, zero);
  return ctx.replace(ctx.select(ctx.test<IsnanOp>(x), x, angle));
}

/// x / |x|, and 0 for 0.
LogicalResult lowerSgn(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isComplex(dtypeOf(x)))
    return ctx.replace(ctx.unary<SignOp>(x));
  Value size = magnitude(ctx, x);
  Value real = ctx.binary<DivOp>(realPart(ctx, x), size), imag = ctx.binary<DivOp>(imagPart(ctx, x), size);
  Value isZero = ctx.compare<EqOp>(size, 0);
  return ctx.replace(ctx.select(isZero, ctx.constant(0, dtypeOf(x)), makeComplex(ctx, real, imag)));
}

LogicalResult lowerIsreal(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  if (!isComplex(dtypeOf(x)))
    return ctx.replace(ctx.full(Number::of(true), ctx.sizes(x), ctx.i1()));
  return ctx.replace(ctx.compare<EqOp>(imagPart(ctx, x), 0));
}

} // namespace ingot::lower
