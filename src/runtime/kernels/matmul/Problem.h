// A matmul step after its checks: what both implementations start from.
#pragma once

#include "runtime/kernels/matmul/Activation.h"

namespace ingot {

struct MatmulProblem {
  TensorDesc a, b, result;
  std::optional<TensorDesc> bias, residual;
  Activation activation = Activation::None;
  const void *bData = nullptr;      ///< set when b is constant
  DType bDataType = DType::Float32; ///< of these; float16 and bfloat16 are for products in float32
  Precision precision = Precision::Highest;
  Method method = Method::Usual;
  int64_t m = 0, n = 0, k = 0;

  size_t batchRank() const { return result.sizes.size() - 2; }
};

/// Operands by their position in the step.
enum MatmulOperand : size_t { MatmulA, MatmulB, MatmulBias, MatmulResidual };

std::unique_ptr<BoundKernel> makeReferenceMatmul(const MatmulProblem &problem);
/// float32, without empty dimensions, with a constant b; null where it cannot. Where the CPU can, `a` alone may be of bfloat16.
std::unique_ptr<BoundKernel> makePanelMatmul(const MatmulProblem &problem);
/// float32, without empty dimensions: many small matrices; null where it cannot.
std::unique_ptr<BoundKernel> makeBatchedMatmul(const MatmulProblem &problem);

/// For tests: checks a step and binds it to oneDNN, or to the reference.
Result<std::unique_ptr<BoundKernel>> bindDnnlMatmul(const StepContext &context, std::span<const TensorDesc> results);
Result<std::unique_ptr<BoundKernel>> bindReferenceMatmul(const StepContext &context,
                                                         std::span<const TensorDesc> results);

} // namespace ingot
