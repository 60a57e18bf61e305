// What reductions share with operators made of them.
#pragma once

#include "lower/Lowering.h"

namespace ingot::lower {

/// (sum |x|^p)^(1/p) and its limits, over dimensions that stay with size 1. That of complex numbers is real.
mlir::Value vectorNorm(LowerContext &ctx, mlir::Value x, double p, llvm::ArrayRef<int64_t> dims);

} // namespace ingot::lower
