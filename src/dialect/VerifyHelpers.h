// What the verifiers of several files, and the inference of result types, share. Private to this folder.
#pragma once

#include "dialect/InferShape.h"

#include "mlir/IR/Operation.h"

namespace ingot {

/// `expected` is null when the operands do not fit together. Element types are compared too, unless
/// `anyElement`.
inline mlir::LogicalResult verifyResultType(mlir::Operation *op, mlir::RankedTensorType expected,
                                            mlir::RankedTensorType actual, bool anyElement = false) {
  if (!expected)
    return op->emitOpError("operands and attributes do not fit together");
  if (!shapesAgree(expected.getShape(), actual.getShape()))
    return op->emitOpError("result must have shape ")
           << shapeText(expected.getShape()) << ", not " << shapeText(actual.getShape());
  if (!anyElement && expected.getElementType() != actual.getElementType())
    return op->emitOpError("result must be of ") << expected.getElementType() << ", not " << actual.getElementType();
  return mlir::success();
}

inline mlir::LogicalResult verifyAxis(mlir::Operation *op, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    return op->emitOpError("axis ") << axis << " is out of range for rank " << rank;
  return mlir::success();
}

/// The attributes that describe a pooling window, one entry a spatial dimension.
struct PoolLists {
  ShapeRef kernel, strides, padding, dilations;
  bool ceilMode;
};
/// Null when the window does not fit.
mlir::RankedTensorType poolType(mlir::RankedTensorType x, const PoolLists &pool);

/// One dynamic operand for every kDynamic of `list`.
inline mlir::LogicalResult verifyDynamic(mlir::Operation *op, ShapeRef list, size_t operands) {
  size_t wanted = llvm::count(list, mlir::ShapedType::kDynamic);
  if (wanted != operands)
    return op->emitOpError("needs ") << wanted << " dynamic operands, has " << operands;
  return mlir::success();
}

} // namespace ingot
