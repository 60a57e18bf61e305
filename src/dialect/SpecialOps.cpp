// Verifiers of SpecialOps.td.
#include "dialect/SpecialOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/SpecialOps.cpp.inc"

namespace ingot {

/// The operands broadcast to the result's shape, and the result is of `element`.
static LogicalResult verifyPart(Operation *op, Type element) {
  std::optional<Shape> shape = broadcastShapes(op->getOperandTypes());
  auto expected = shape ? RankedTensorType::get(*shape, element) : RankedTensorType();
  return verifyResultType(op, expected, cast<RankedTensorType>(op->getResult(0).getType()));
}

static LogicalResult verifyComplexPart(Operation *op, RankedTensorType x) {
  auto complex = dyn_cast<ComplexType>(x.getElementType());
  if (!complex)
    return op->emitOpError("operand must be complex, not of ") << x.getElementType();
  return verifyPart(op, complex.getElementType());
}

LogicalResult RealOp::verify() { return verifyComplexPart(*this, getX().getType()); }
LogicalResult ImagOp::verify() { return verifyComplexPart(*this, getX().getType()); }

LogicalResult ComplexOp::verify() {
  Type part = getA().getType().getElementType();
  if (!isa<FloatType>(part) || part != getB().getType().getElementType())
    return emitOpError("operands must be of one floating-point type");
  return verifyPart(*this, ComplexType::get(part));
}

LogicalResult HashOp::verify() {
  Type element = getX().getType().getElementType();
  if (!element.isF64() && !element.isInteger(64))
    return emitOpError("operand must be of 64-bit elements, not ") << element;
  Shape shape(getX().getType().getShape());
  for (int64_t dim : getDims()) {
    if (failed(verifyAxis(*this, dim, static_cast<int64_t>(shape.size()))))
      return failure();
    shape[dim] = 1;
  }
  auto bits = IntegerType::get(getContext(), 64, IntegerType::Unsigned);
  return verifyResultType(*this, RankedTensorType::get(shape, bits), getType());
}

LogicalResult FrexpExponentOp::verify() {
  if (!isFloat(getX().getType().getElementType()))
    return emitOpError("operand must be of floating-point numbers");
  return verifyPart(*this, IntegerType::get(getContext(), 32));
}

} // namespace ingot
