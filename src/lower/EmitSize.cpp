// The part of Emitter that computes sizes, folding what is known.
#include "lower/Emit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot::lower {

Size Emitter::dim(Value x, int64_t axis) {
  int64_t size = shapeOf(x)[axis];
  if (size != kDynamicEntry)
    return size;
  return create<DimOp>(i64(), x, axis).getResult();
}

Sizes Emitter::sizes(Value x) {
  Sizes result;
  for (int64_t axis = 0; axis < rankOf(x); ++axis)
    result.push_back(dim(x, axis));
  return result;
}

Size Emitter::numElements(Value x, ArrayRef<int64_t> dims) {
  Size product = 1;
  for (int64_t axis : dims)
    product = times(product, dim(x, axis));
  return product;
}

Value Emitter::asValue(Size size) {
  if (!size.isStatic())
    return size.dynamic;
  return create<arith::ConstantOp>(builder.getI64IntegerAttr(size.literal));
}

namespace {

template <typename Op> Size emit(Emitter &emitter, Size a, Size b) {
  Value left = emitter.asValue(a), right = emitter.asValue(b);
  return emitter.create<Op>(left, right).getResult();
}

bool bothStatic(Size a, Size b) { return a.isStatic() && b.isStatic(); }

/// Sizes of hostile files may overflow; they are wrong either way, but must not be undefined.
int64_t wrap(uint64_t bits) { return static_cast<int64_t>(bits); }

} // namespace

Size Emitter::plus(Size a, Size b) {
  if (bothStatic(a, b))
    return wrap(static_cast<uint64_t>(a.literal) + static_cast<uint64_t>(b.literal));
  if (a.is(0) || b.is(0))
    return a.is(0) ? b : a;
  return emit<arith::AddIOp>(*this, a, b);
}

Size Emitter::minus(Size a, Size b) {
  if (bothStatic(a, b))
    return wrap(static_cast<uint64_t>(a.literal) - static_cast<uint64_t>(b.literal));
  if (b.is(0))
    return a;
  return emit<arith::SubIOp>(*this, a, b);
}

Size Emitter::times(Size a, Size b) {
  if (bothStatic(a, b))
    return wrap(static_cast<uint64_t>(a.literal) * static_cast<uint64_t>(b.literal));
  if (a.is(1) || b.is(1))
    return a.is(1) ? b : a;
  return emit<arith::MulIOp>(*this, a, b);
}

Size Emitter::floorDiv(Size a, Size b) {
  if (b.is(1))
    return a;
  if (b.is(0))
    return 0;
  if (bothStatic(a, b))
    return llvm::divideFloorSigned(a.literal, b.literal);
  return emit<arith::FloorDivSIOp>(*this, a, b);
}

Size Emitter::ceilDiv(Size a, Size b) { return minus(0, floorDiv(minus(0, a), b)); }

Size Emitter::smaller(Size a, Size b) {
  if (bothStatic(a, b))
    return std::min(a.literal, b.literal);
  return emit<arith::MinSIOp>(*this, a, b);
}

Size Emitter::larger(Size a, Size b) {
  if (bothStatic(a, b))
    return std::max(a.literal, b.literal);
  return emit<arith::MaxSIOp>(*this, a, b);
}

Size Emitter::clampPosition(Size position, Size size) {
  if (position.isStatic()) {
    if (position.literal == INT64_MAX)
      return size;
    if (position.literal < 0)
      return larger(0, plus(position, size));
    return position.literal == 0 ? position : smaller(position, size);
  }
  Value zero = asValue(0);
  Value isNegative = create<arith::CmpIOp>(arith::CmpIPredicate::slt, position.dynamic, zero).getResult();
  Value fromEnd = asValue(plus(position, size));
  Size wrapped = create<arith::SelectOp>(isNegative, fromEnd, position.dynamic).getResult();
  return smaller(larger(wrapped, 0), size);
}

} // namespace ingot::lower
