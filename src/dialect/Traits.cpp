#include "dialect/Traits.h"
#include "dialect/InferShape.h"
#include "dialect/Ops.h"
#include "dialect/Types.h"

using namespace mlir;

namespace ingot {

static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

/// The operands that must agree in their element type; the condition of select is no such operand.
static LogicalResult verifyOperandElements(Operation *op, ValueRange operands) {
  for (Value operand : operands.drop_front())
    if (elementOf(operand) != elementOf(operands.front()))
      return op->emitOpError("operands have different element types ")
             << elementOf(operands.front()) << " and " << elementOf(operand) << "; promote them by ingot.cast";
  return success();
}

static LogicalResult verifyResultElement(Operation *op, Type operand, Type result) {
  if (op->hasTrait<BooleanResult>()) {
    if (!isBool(result))
      return op->emitOpError("result must be of i1, not ") << result;
    return success();
  }
  // The absolute value of a complex number is real.
  if (auto complex = dyn_cast<ComplexType>(operand); complex && isa<AbsOp>(op))
    operand = complex.getElementType();
  if (result != operand)
    return op->emitOpError("result must be of ") << operand << " as the operands are, not " << result;
  return success();
}

LogicalResult verifyElementwise(Operation *op) {
  // Operand and result constraints are verified after traits; their errors are better than ours.
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (op->getNumOperands() == 0 || op->getNumResults() != 1 || !llvm::all_of(op->getOperandTypes(), isTensor) ||
      !isTensor(op->getResult(0).getType()))
    return op->emitOpError("takes ranked tensors and gives one");
  ValueRange operands = op->getOperands();
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (!isa<CastOp>(op)) {
    ValueRange data = operands;
    if (isa<SelectOp>(op)) {
      if (!isBool(elementOf(operands.front())))
        return op->emitOpError("condition must be of i1");
      data = operands.drop_front();
    }
    if (failed(verifyOperandElements(op, data)) ||
        failed(verifyResultElement(op, elementOf(data.front()), result.getElementType())))
      return failure();
  }
  std::optional<Shape> shape = broadcastShapes(operands.getTypes());
  if (!shape)
    return op->emitOpError("operands do not broadcast together");
  if (!shapesAgree(*shape, result.getShape()))
    return op->emitOpError("operands broadcast to ")
           << shapeText(*shape) << ", but the result is " << shapeText(result.getShape());
  return success();
}

} // namespace ingot
