// Kernels of float32 for tensors of float16 and bfloat16, which are converted around them: sums are made in float32 and
// rounded once, as in PyTorch.
#pragma once

#include "runtime/Kernel.h"

namespace ingot {

inline bool isHalf(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

/// The same tensor with elements of float32.
TensorDesc widened(TensorDesc desc);

/// Elements of float16 or bfloat16 as float32: on all threads, and on this one.
void widen(DType dtype, const void *from, float *to, int64_t count);
void widenHere(DType dtype, const void *from, float *to, int64_t count);

/// `inner` takes float32 for the operands that are given with their places, and has one dense result; its operands and the result are
/// of `dtype`. Null where an operand has more gaps than elements, or where there is no inner kernel.
std::unique_ptr<BoundKernel> makeWidened(std::unique_ptr<BoundKernel> inner, DType dtype,
                                         std::span<const std::pair<size_t, TensorDesc>> operands,
                                         const TensorDesc &result);

} // namespace ingot
