// Verifiers of ScatterOps.td.
#include "dialect/ScatterOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/ScatterOps.cpp.inc"

namespace ingot {

static LogicalResult verifyPositions(Operation *op, RankedTensorType index) {
  if (isInteger(index.getElementType()))
    return success();
  return op->emitOpError("index must be of integers, not ") << index.getElementType();
}

static LogicalResult verifyReduce(Operation *op, StringRef reduce) {
  static constexpr StringRef known[] = {"none", "add", "prod", "mean", "amax", "amin"};
  if (llvm::is_contained(known, reduce))
    return success();
  return op->emitOpError("does not know the reduction '") << reduce << "'";
}

LogicalResult ScatterOp::verify() {
  RankedTensorType x = getX().getType(), index = getIndex().getType(), source = getSource().getType();
  if (failed(verifyPositions(*this, index)) || failed(verifyReduce(*this, getReduce())) ||
      failed(verifyAxis(*this, getAxis(), x.getRank())))
    return failure();
  if (index.getRank() != x.getRank() || source.getRank() != x.getRank())
    return emitOpError("operand, index and source have different ranks");
  if (source.getElementType() != x.getElementType())
    return emitOpError("source is not of the operand's element type");
  return verifyResultType(*this, x, getType());
}

LogicalResult IndexPutOp::verify() {
  for (Value index : getIndices())
    if (failed(verifyPositions(*this, cast<RankedTensorType>(index.getType()))))
      return failure();
  if (failed(verifyReduce(*this, getReduce())))
    return failure();
  RankedTensorType picked = indexType(getX().getType(), getIndices().getTypes(), getAxes());
  if (failed(verifyResultType(*this, picked, getSource().getType())))
    return failure();
  return verifyResultType(*this, getX().getType(), getType());
}

/// One row a position.
static RankedTensorType positionsType(RankedTensorType x, int64_t rows) {
  return RankedTensorType::get({rows, x.getRank()}, IntegerType::get(x.getContext(), 64));
}

LogicalResult NonzeroOp::verify() {
  return verifyResultType(*this, positionsType(getX().getType(), ShapedType::kDynamic), getType());
}

LogicalResult NonzeroStaticOp::verify() {
  if (getRows().size() != 1)
    return emitOpError("needs one number of rows");
  if (failed(verifyDynamic(*this, getRows(), getDynamic().size())))
    return failure();
  return verifyResultType(*this, positionsType(getX().getType(), getRows().front()), getType());
}

LogicalResult BitcastOp::verify() {
  RankedTensorType from = getX().getType(), to = getType();
  std::optional<DType> before = dtypeOfType(from.getElementType()), after = dtypeOfType(to.getElementType());
  if (!before || !after || from.getRank() != to.getRank())
    return emitOpError("operand and result must have one rank and element types of known width");
  auto have = static_cast<int64_t>(byteSize(*before)), want = static_cast<int64_t>(byteSize(*after));
  if (have == want)
    return verifyResultType(*this, from, to, /*anyElement=*/true);
  if (from.getRank() == 0)
    return emitOpError("a zero-dimensional tensor keeps the width of its elements");
  Shape shape(from.getShape());
  if (!ShapedType::isDynamic(shape.back())) {
    if (shape.back() * have % want != 0)
      return emitOpError("the last dimension cannot be divided into elements of the result");
    shape.back() = shape.back() * have / want;
  }
  return verifyResultType(*this, withShape(from, shape), to, /*anyElement=*/true);
}

} // namespace ingot
