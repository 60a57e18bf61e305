// Verifiers of RandomOps.td.
#include "dialect/RandomOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/RandomOps.cpp.inc"

namespace ingot {

/// A tensor of the sizes that the attribute gives, some of them by operands.
template <typename Op> static LogicalResult verifySizes(Op op) {
  if (failed(verifyDynamic(op, op.getSizes(), op.getDynamic().size())))
    return failure();
  return verifyResultType(op, withShape(op.getType(), op.getSizes()), op.getType());
}

/// Floating-point or complex numbers.
template <typename Op> static LogicalResult verifyReals(Op op) {
  Type element = op.getType().getElementType();
  if (!isFloat(element) && !isComplex(element))
    return op.emitOpError("result must be of floating-point or complex numbers");
  return verifySizes(op);
}

LogicalResult RandomUniformOp::verify() { return verifyReals(*this); }
LogicalResult RandomNormalOp::verify() { return verifyReals(*this); }
LogicalResult RandomIntegerOp::verify() { return verifySizes(*this); }

LogicalResult RandomPermutationOp::verify() {
  if (getType().getRank() != 1)
    return emitOpError("result must have one dimension");
  return success();
}

LogicalResult RandomPoissonOp::verify() { return verifyResultType(*this, getMean().getType(), getType()); }

LogicalResult RandomBinomialOp::verify() {
  if (!shapesAgree(getCount().getType().getShape(), getProbability().getType().getShape()))
    return emitOpError("operands must have one shape");
  return verifyResultType(*this, getCount().getType(), getType(), /*anyElement=*/true);
}

LogicalResult RandomMultinomialOp::verify() {
  RankedTensorType weights = getWeights().getType();
  if (weights.getRank() < 1 || weights.getRank() > 2 || getType().getRank() != weights.getRank())
    return emitOpError("weights and result must both be vectors or both matrices");
  if (!isFloat(weights.getElementType()) || !getType().getElementType().isSignlessInteger(64))
    return emitOpError("weights must be of floating-point numbers and the result of int64");
  return success();
}

} // namespace ingot
