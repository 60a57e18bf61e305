// What other lowerings need of random numbers.
#pragma once

#include "lower/Lowering.h"

namespace ingot::lower {

/// Zeros with the probability `p`, and the rest divided by 1 - p.
mlir::Value dropoutOf(LowerContext &ctx, mlir::Value x, double p);

} // namespace ingot::lower
