// Element types: ingot::DType as MLIR types and back.
#pragma once

#include "base/DType.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace ingot {

/// Signed integers are signless (i64), unsigned ones uiN, bool is i1.
mlir::Type typeOfDType(DType dtype, mlir::MLIRContext *context);

/// nullopt for types that are no element type of PyTorch (index, i7, f80 ...).
std::optional<DType> dtypeOfType(mlir::Type type);

bool isBool(mlir::Type type);
/// Integers other than bool.
bool isInteger(mlir::Type type);
/// Real floating point, 8-bit kinds included.
bool isFloat(mlir::Type type);
bool isComplex(mlir::Type type);

} // namespace ingot
