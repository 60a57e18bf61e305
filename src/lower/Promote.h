// PyTorch's rules for element types.
#pragma once

#include "dialect/Types.h"
#include "lower/Size.h"

#include "llvm/ADT/ArrayRef.h"

namespace ingot::lower {

/// Integers, and booleans too.
bool isIntegral(mlir::Type dtype);
/// float16 and bfloat16: PyTorch stores them and computes in float32.
bool isReducedFloat(mlir::Type dtype);

mlir::RankedTensorType tensorType(mlir::Value tensor);
mlir::Type dtypeOf(mlir::Value tensor);
int64_t rankOf(mlir::Value tensor);
llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor);

/// torch.promote_types; null where PyTorch refuses (uint16 with int32, float8 with others …).
mlir::Type promoteTypes(mlir::Type a, mlir::Type b);

/// torch.result_type: tensors with dimensions decide, then zero-dimensional ones, then Python
/// numbers; a lower category counts only when it is of a higher kind (bool < int < float < complex).
/// Null where PyTorch refuses.
mlir::Type resultType(mlir::MLIRContext *context, llvm::ArrayRef<Operand> operands);

/// float32 for integers and booleans, otherwise `dtype` itself.
mlir::Type floatType(mlir::Type dtype);

/// The type PyTorch's CPU kernels compute in: float32 for float16 and bfloat16.
mlir::Type computeType(mlir::Type dtype);

} // namespace ingot::lower
