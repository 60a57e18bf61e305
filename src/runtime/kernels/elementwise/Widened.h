// Kernels of float32 for tensors of float16 and bfloat16, which are converted around them: sums are made in float32 and
// rounded once, as in PyTorch.
#pragma once

#include "runtime/Kernel.h"

namespace ingot {

inline bool isHalf(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

/// Elements of float16 or bfloat16 as float32: on all threads, and on this one.
void widen(DType dtype, const void *from, float *to, int64_t count);
void widenHere(DType dtype, const void *from, float *to, int64_t count);

/// The same tensor with elements of float32.
TensorDesc widened(TensorDesc desc);

/// Operands of a step with elements of `dtype`, as a kernel of float32 takes them.
class WideOperands {
public:
  explicit WideOperands(DType dtype) : dtype(dtype) {}

  /// One that is converted in every call.
  TensorDesc add(size_t index, const TensorDesc &desc);
  std::optional<TensorDesc> add(size_t index, const std::optional<TensorDesc> &desc);
  /// One that is constant and contiguous: it is converted now, and kept as long as the kernel.
  const float *addConstant(size_t index, const TensorDesc &desc, const void *data);

  /// `inner` has one dense result, which becomes one of `dtype`. Null where an operand has more gaps than elements, or
  /// where there is no inner kernel.
  std::unique_ptr<BoundKernel> makeKernel(std::unique_ptr<BoundKernel> inner, const TensorDesc &result) &&;

private:
  friend class Widened;
  struct Operand {
    size_t index;
    int64_t count;                                ///< of elements in memory, gaps too
    std::shared_ptr<std::vector<float>> constant; ///< null: converted in every call
  };

  DType dtype;
  std::vector<Operand> operands;
  bool isLoose = false;
};

} // namespace ingot
