// cholesky: A = L Lᴴ. Only one triangle of A is read.
#include "runtime/kernels/linalg/Batched.h"

namespace ingot {
namespace linalg {
namespace {

/// In place of the lower triangle. Gives 0, or the order of the first minor that is not positive.
template <typename T> int64_t factor(Matrix<T> &a) {
  for (int64_t j = 0; j < a.rows; ++j) {
    double diagonal = realPart(a(j, j));
    for (int64_t k = 0; k < j; ++k)
      diagonal -= norm2(a(j, k));
    if (!(diagonal > 0))
      return j + 1;
    diagonal = std::sqrt(diagonal);
    a(j, j) = diagonal;
    for (int64_t i = j + 1; i < a.rows; ++i) {
      T sum = a(i, j);
      for (int64_t k = 0; k < j; ++k)
        sum -= a(i, k) * conj(a(j, k));
      a(i, j) = sum / diagonal;
    }
  }
  return 0;
}

template <typename T> Status compute(const Call<T> &call) {
  Matrix<T> a = call.options.upper ? adjoint(call.in[0]) : std::move(call.in[0]);
  const int64_t info = factor(a);
  if (info != 0 && !call.options.check.empty())
    return usageError(call.options.check + ": " + call.where +
                      "The factorization could not be completed because the input is not positive-definite (the "
                      "leading minor of order " +
                      std::to_string(info) + " is not positive-definite).");
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = i + 1; j < a.columns; ++j)
      a(i, j) = T(0);
  call.out[0] = call.options.upper ? adjoint(a) : std::move(a);
  call.out[1][0] = static_cast<double>(info);
  return {};
}

Result<std::vector<Extent>> shape(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkSquare(context, in[0]));
  return std::vector<Extent>{in[0], number()};
}

constexpr int kOperands[] = {2};
constexpr Spec kSpec = {kOperands, shape, compute<double>, compute<Complex>};

} // namespace
} // namespace linalg

extern const KernelDef kernelDef_cholesky = {"cholesky", linalg::inferMatrices<linalg::kSpec>,
                                             linalg::bindMatrices<linalg::kSpec>, false};

} // namespace ingot
