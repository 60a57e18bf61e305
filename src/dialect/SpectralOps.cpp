// Verifiers of SpectralOps.td.
#include "dialect/SpectralOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/SpectralOps.cpp.inc"

namespace ingot {

LogicalResult FftOp::verify() {
  RankedTensorType x = getX().getType(), result = getType();
  if (failed(verifyAxis(*this, getAxis(), x.getRank())))
    return failure();
  if (!isComplex(x.getElementType()) && !isComplex(result.getElementType()))
    return emitOpError("the operand or the result must be of complex numbers");
  Shape expected(x.getShape());
  if (result.getRank() == x.getRank())
    expected[getAxis()] = result.getDimSize(getAxis());
  return verifyResultType(*this, withShape(x, expected), result, /*anyElement=*/true);
}

LogicalResult OverlapAddOp::verify() {
  RankedTensorType x = getX().getType();
  if (x.getRank() < 2 || static_cast<int64_t>(getHop()) < 1)
    return emitOpError("needs frames in two dimensions and a hop of at least 1");
  Shape expected(x.getShape().drop_back());
  expected.back() = getType().getRank() ? getType().getShape().back() : 0;
  return verifyResultType(*this, withShape(x, expected), getType());
}

} // namespace ingot
