// Which values depend on weights and constants alone, and so are known before any call.
#pragma once

#include <mlir/IR/Value.h>

namespace ingot {

/// True when every path from `value` back to its sources ends in a weight or a constant.
bool isConstantOnly(mlir::Value value);

/// True when `value` is an `ingot.constant` all of whose elements equal `expected`.
bool isSplatOf(mlir::Value value, double expected);

} // namespace ingot
