// Attributes and constants of ops in the plan's own terms.
#pragma once

#include "base/Result.h"
#include "runtime/Plan.h"

#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/Operation.h>

namespace ingot {

/// All inherent attributes of `op`, converted by the rule in Plan.h.
Result<Attributes> planAttributes(mlir::Operation &op);

/// The elements in row-major order, as tensors of the element type lie in memory.
std::vector<std::byte> denseBytes(mlir::DenseElementsAttr elements);

} // namespace ingot
