// Activations of sums that have just been computed.
#pragma once

#include "runtime/kernels/matmul/Activation.h"

namespace ingot::gemm {

/// What an activation is that only limits values; others begin and end with infinities.
struct Limits {
  float floor, ceiling;
};
bool isLimit(Activation activation);
Limits limitsOf(Activation activation);

void activateAll(Activation activation, float *values, int64_t count);

} // namespace ingot::gemm
