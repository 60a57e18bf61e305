// Kernels that are right for finite numbers only: oneDNN's ReLU makes 0 of NaN, and what Winograd's sums cancel does not
// cancel where it is infinite. Where an operand is not finite, another kernel takes the step again.
#pragma once

#include "runtime/kernels/matmul/Activation.h"

namespace ingot {

/// Whether oneDNN gives a number for NaN.
bool losesNan(Activation activation);

/// An operand that has to be finite.
struct FiniteOperand {
  size_t index;
  TensorDesc desc;
};

/// What takes the step otherwise: a kernel that is made when it is needed, and the activation of its dense result.
struct OtherKernel {
  std::function<Result<std::unique_ptr<BoundKernel>>()> make;
  Activation activation = Activation::None;
  int64_t count = 0;
};

class FiniteOnlyKernel : public BoundKernel {
public:
  FiniteOnlyKernel(std::unique_ptr<BoundKernel> fast, const std::vector<FiniteOperand> &finite, OtherKernel other);

  size_t scratchBytes() const override { return fast->scratchBytes(); }
  int reorders() const override { return fast->reorders(); }
  std::string_view method() const override { return fast->method(); }
  Status run(const KernelArgs &args) const override;

private:
  struct Range {
    size_t index;
    int64_t begin, count; ///< of the elements in memory, from the operand's first one
  };

  bool areFinite(const KernelArgs &args) const;
  Status runOther(const KernelArgs &args) const;

  std::unique_ptr<BoundKernel> fast;
  OtherKernel other;
  std::vector<Range> ranges;
};

/// With the name of what it runs.
template <typename Kernel> class FiniteOnly final : public FiniteOnlyKernel {
  using FiniteOnlyKernel::FiniteOnlyKernel;
};

} // namespace ingot
