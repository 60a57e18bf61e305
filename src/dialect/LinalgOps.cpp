// Verifiers of LinalgOps.td. Sizes are checked again when a program is bound to them; here is what can be known of
// types: one element type, and common leading dimensions.
#include "dialect/LinalgOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/LinalgOps.cpp.inc"

namespace ingot {

static bool isMatrixElement(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    type = complex.getElementType();
  return type.isF32() || type.isF64();
}

/// Every operand and result has the batch of the first operand and then `trailing` dimensions, operands first.
static LogicalResult verifyBatched(Operation *op, ArrayRef<int64_t> trailing) {
  auto first = cast<RankedTensorType>(op->getOperand(0).getType());
  if (!isMatrixElement(first.getElementType()))
    return op->emitOpError("matrices must be of float32, float64, complex64 or complex128");
  if (first.getRank() < 2)
    return op->emitOpError("the first operand must be a matrix or a batch of them");
  ShapeRef batch = first.getShape().drop_back(2);
  for (unsigned i = 0, end = op->getNumOperands() + op->getNumResults(); i < end; ++i) {
    bool isOperand = i < op->getNumOperands();
    Type type = isOperand ? op->getOperand(i).getType() : op->getResult(i - op->getNumOperands()).getType();
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getRank() != static_cast<int64_t>(batch.size()) + trailing[i] ||
        !shapesAgree(tensor.getShape().take_front(batch.size()), batch))
      return op->emitOpError() << (isOperand ? "operand" : "result") << " with shape " << shapeText(tensor.getShape())
                               << " does not have the batch " << shapeText(batch);
  }
  return success();
}

LogicalResult CholeskyOp::verify() { return verifyBatched(*this, {2, 2, 0}); }
LogicalResult LuOp::verify() { return verifyBatched(*this, {2, 2, 1, 0}); }
LogicalResult LuSolveOp::verify() { return verifyBatched(*this, {2, 1, 2, 2}); }
LogicalResult LuDetOp::verify() { return verifyBatched(*this, {2, 1, 0, 0, 0}); }
LogicalResult LuPermutationOp::verify() { return verifyBatched(*this, {2, 1, 2}); }
LogicalResult InverseOp::verify() { return verifyBatched(*this, {2, 2, 0}); }
LogicalResult QrOp::verify() { return verifyBatched(*this, {2, 2, 1}); }
LogicalResult HouseholderOp::verify() { return verifyBatched(*this, {2, 1, 2}); }
LogicalResult ReflectOp::verify() { return verifyBatched(*this, {2, 1, 2, 2}); }
LogicalResult EighOp::verify() { return verifyBatched(*this, {2, 1, 2}); }
LogicalResult EigOp::verify() { return verifyBatched(*this, {2, 1, 2}); }
LogicalResult SvdOp::verify() { return verifyBatched(*this, {2, 2, 1, 2}); }
LogicalResult TriangularSolveOp::verify() { return verifyBatched(*this, {2, 2, 2}); }
LogicalResult LdlOp::verify() { return verifyBatched(*this, {2, 2, 1, 0}); }
LogicalResult LdlSolveOp::verify() { return verifyBatched(*this, {2, 1, 2, 2}); }
LogicalResult LstsqOp::verify() { return verifyBatched(*this, {2, 2, 2, 0, 1}); }
LogicalResult MatrixExpOp::verify() { return verifyBatched(*this, {2, 2}); }
LogicalResult AdjointOp::verify() { return verifyBatched(*this, {2, 2}); }

LogicalResult CheckInfoOp::verify() {
  if (!isInteger(getInfo().getType().getElementType()))
    return emitOpError("info must be of integers");
  return verifyResultType(*this, getInfo().getType(), getType());
}

} // namespace ingot
