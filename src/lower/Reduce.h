// What reductions share with operators made of them.
#pragma once

#include "lower/Lowering.h"

namespace ingot::lower {

/// (sum |x|^p)^(1/p) and its limits, over dimensions that stay with size 1. That of complex numbers is real.
mlir::Value vectorNorm(LowerContext &ctx, mlir::Value x, double p, llvm::ArrayRef<int64_t> dims);

/// The real and imaginary parts of complex numbers.
struct Parts {
  mlir::Value real, imaginary;
};
Parts partsOf(LowerContext &ctx, mlir::Value x);
mlir::Value complexOf(LowerContext &ctx, mlir::Value real, mlir::Value imaginary);
/// A real tensor is its own conjugate.
mlir::Value conjugate(LowerContext &ctx, mlir::Value x);

} // namespace ingot::lower
