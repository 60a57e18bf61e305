// triangular_solve, matrix_exp, adjoint, check_info.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/linalg/Batched.h"

#include <algorithm>

namespace ingot {
namespace linalg {
namespace {

template <typename T> Status computeSolve(const Call<T> &call) {
  const Matrix<T> &a = call.in[0];
  Matrix<T> &b = call.in[1];
  const int64_t n = a.rows;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = call.options.upper ? n - 1 - step : step;
    const int64_t from = call.options.upper ? i + 1 : 0, to = call.options.upper ? n : i;
    for (int64_t k = from; k < to; ++k) {
      const T factor = a(i, k);
      for (int64_t j = 0; j < b.columns; ++j)
        b(i, j) -= factor * b(k, j);
    }
    for (int64_t j = 0; j < b.columns && !call.options.unit; ++j)
      b(i, j) /= a(i, i);
  }
  call.out[0] = std::move(b);
  return {};
}

Result<std::vector<Extent>> shapeSolve(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkSquare(context, in[0]));
  INGOT_CHECK(checkRows(context, in[0], in[1]));
  return std::vector<Extent>{in[1]};
}

constexpr int kTwoMatrices[] = {2, 2};
constexpr Spec kSolve = {kTwoMatrices, shapeSolve, computeSolve<double>, computeSolve<Complex>};

//===------------------------------------------------------------------------------------------===//
// matrix_exp
//===------------------------------------------------------------------------------------------===//

/// Halves the matrix until its norm is small, sums the series there, and squares the result as often.
template <typename T> Status computeExp(const Call<T> &call) {
  constexpr int kTerms = 18; // of norm 1/2: the next is below 1e-22
  Matrix<T> &a = call.in[0];
  double norm = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < a.columns; ++j)
      sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  const int halvings = std::isfinite(norm) && norm > 0.5 ? static_cast<int>(std::ceil(std::log2(norm / 0.5))) : 0;
  const double scale = std::ldexp(1.0, -halvings);
  for (T &element : a.data)
    element *= scale;
  Matrix<T> sum = Matrix<T>::identity(a.rows), term = sum;
  for (int k = 1; k <= kTerms; ++k) {
    term = multiply(term, a);
    for (size_t i = 0; i < sum.data.size(); ++i) {
      term.data[i] /= static_cast<double>(k);
      sum.data[i] += term.data[i];
    }
  }
  for (int k = 0; k < halvings; ++k)
    sum = multiply(sum, sum);
  call.out[0] = std::move(sum);
  return {};
}

Result<std::vector<Extent>> shapeExp(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkSquare(context, in[0]));
  return std::vector<Extent>{in[0]};
}

constexpr int kOneMatrix[] = {2};
constexpr Spec kExp = {kOneMatrix, shapeExp, computeExp<double>, computeExp<Complex>};

//===------------------------------------------------------------------------------------------===//
// adjoint
//===------------------------------------------------------------------------------------------===//

template <typename T> Status computeAdjoint(const Call<T> &call) {
  call.out[0] = adjoint(call.in[0]);
  return {};
}

Result<std::vector<Extent>> shapeAdjoint(const StepContext &, const Options &, std::span<const Extent> in) {
  return std::vector<Extent>{matrixOf(in[0].columns, in[0].rows)};
}

constexpr Spec kAdjoint = {kOneMatrix, shapeAdjoint, computeAdjoint<double>, computeAdjoint<Complex>};

//===------------------------------------------------------------------------------------------===//
// check_info
//===------------------------------------------------------------------------------------------===//

class CheckInfo final : public BoundKernel {
public:
  CheckInfo(std::string name, int64_t count, bool isBatch) : name(std::move(name)), count(count), isBatch(isBatch) {}

  Status run(const KernelArgs &args) const override {
    const auto *info = static_cast<const int32_t *>(args.operands[0]);
    for (int64_t i = 0; i < count; ++i)
      if (info[i] != 0)
        return usageError(name + ": " + (isBatch ? "(Batch element " + std::to_string(i) + "): " : "") +
                          "the computation failed at element " + std::to_string(info[i]) +
                          "; the input matrix is singular or not positive-definite.");
    std::copy_n(info, count, static_cast<int32_t *>(args.results[0]));
    return {};
  }

private:
  std::string name;
  int64_t count;
  bool isBatch;
};

Result<std::vector<ResultDesc>> inferCheck(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *info, tensorAt(context, 0));
  if (info->dtype != DType::Int32)
    return badType(context, info->dtype);
  return denseResult(context, TensorDesc::contiguous(DType::Int32, info->sizes));
}

Result<std::unique_ptr<BoundKernel>> bindCheck(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(const TensorDesc *info, tensorAt(context, 0));
  INGOT_TRY(std::string name, requiredAttr<std::string>(context, "name"));
  return makeKernel<CheckInfo>(std::move(name), info->numel(), !info->sizes.empty());
}

} // namespace
} // namespace linalg

using namespace linalg;
extern const KernelDef kernelDef_triangular_solve = {"triangular_solve", inferMatrices<kSolve>, bindMatrices<kSolve>,
                                                     false};
extern const KernelDef kernelDef_matrix_exp = {"matrix_exp", inferMatrices<kExp>, bindMatrices<kExp>, false};
extern const KernelDef kernelDef_adjoint = {"adjoint", inferMatrices<kAdjoint>, bindMatrices<kAdjoint>, false};
extern const KernelDef kernelDef_check_info = {"check_info", inferCheck, bindCheck, false};

} // namespace ingot
