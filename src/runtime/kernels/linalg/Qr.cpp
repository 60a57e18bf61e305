// qr, householder and reflect, with the vectors, factors and signs of LAPACK's geqrf, orgqr and ormqr.
#include "runtime/kernels/linalg/Batched.h"

#include <algorithm>

namespace ingot {
namespace linalg {
namespace {

/// Makes column k of `a` zero below the diagonal; its vector stays there, its factor is the result.
template <typename T> T reflectColumn(Matrix<T> &a, int64_t k) {
  const T alpha = a(k, k);
  double below = 0;
  for (int64_t i = k + 1; i < a.rows; ++i)
    below = std::hypot(below, std::abs(a(i, k)));
  const bool isRealAlready = alpha == T(realPart(alpha));
  if (below == 0 && isRealAlready)
    return T(0);
  const double length = std::hypot(std::abs(alpha), below);
  const double beta = realPart(alpha) >= 0 && !std::signbit(realPart(alpha)) ? -length : length;
  const T scale = T(1) / (alpha - beta);
  for (int64_t i = k + 1; i < a.rows; ++i)
    a(i, k) *= scale;
  a(k, k) = beta;
  return (beta - alpha) / beta;
}

/// Applies I - tau v vᴴ, where v is column k of `a` below its diagonal, to columns `from` and later of `c`.
template <typename T> void reflectRows(const Matrix<T> &a, int64_t k, T tau, Matrix<T> &c, int64_t from) {
  if (tau == T(0))
    return;
  std::vector<T> sums(c.row(k) + from, c.row(k) + c.columns);
  for (int64_t i = k + 1; i < a.rows; ++i) {
    const T factor = conj(a(i, k));
    for (int64_t j = from; j < c.columns; ++j)
      sums[static_cast<size_t>(j - from)] += factor * c(i, j);
  }
  for (int64_t j = from; j < c.columns; ++j) {
    const T part = tau * sums[static_cast<size_t>(j - from)];
    c(k, j) -= part;
    for (int64_t i = k + 1; i < a.rows; ++i)
      c(i, j) -= a(i, k) * part;
  }
}

template <typename T> Status computeQr(const Call<T> &call) {
  Matrix<T> &a = call.in[0];
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    const T tau = reflectColumn(a, k);
    reflectRows(a, k, conj(tau), a, k + 1);
    call.out[1][k] = tau;
  }
  call.out[0] = std::move(a);
  return {};
}

Result<std::vector<Extent>> shapeQr(const StepContext &, const Options &, std::span<const Extent> in) {
  return std::vector<Extent>{in[0], vectorOf(std::min(in[0].rows, in[0].columns))};
}

constexpr int kOneMatrix[] = {2};
constexpr Spec kQr = {kOneMatrix, shapeQr, computeQr<double>, computeQr<Complex>};

template <typename T> Status computeHouseholder(const Call<T> &call) {
  Matrix<T> &q = call.out[0];
  for (int64_t i = 0; i < std::min(q.rows, q.columns); ++i)
    q(i, i) = T(1);
  for (int64_t k = call.in[1].rows - 1; k >= 0; --k)
    reflectRows(call.in[0], k, call.in[1][k], q, 0);
  return {};
}

Status checkFactors(const StepContext &context, const Extent &a, const Extent &tau) {
  if (tau.rows > a.columns || tau.rows > a.rows)
    return usageError(context.step.kernel + ": there are more factors than Householder vectors");
  return {};
}

Result<std::vector<Extent>> shapeHouseholder(const StepContext &context, const Options &options,
                                             std::span<const Extent> in) {
  INGOT_CHECK(checkFactors(context, in[0], in[1]));
  return std::vector<Extent>{matrixOf(in[0].rows, options.full ? in[0].rows : in[0].columns)};
}

constexpr int kVectors[] = {2, 1};
constexpr Spec kHouseholder = {kVectors, shapeHouseholder, computeHouseholder<double>, computeHouseholder<Complex>};

/// Q = H1 H2 …, so Q C applies the last reflection first. C Q is the adjoint of Qᴴ Cᴴ.
template <typename T> Status computeReflect(const Call<T> &call) {
  const bool isLeft = call.options.left;
  const bool isAdjoint = call.options.adjoint == isLeft;
  Matrix<T> c = isLeft ? std::move(call.in[2]) : adjoint(call.in[2]);
  const int64_t count = call.in[1].rows;
  for (int64_t step = 0; step < count; ++step) {
    const int64_t k = isAdjoint ? step : count - 1 - step;
    const T tau = call.in[1][k];
    reflectRows(call.in[0], k, isAdjoint ? conj(tau) : tau, c, 0);
  }
  call.out[0] = isLeft ? std::move(c) : adjoint(c);
  return {};
}

Result<std::vector<Extent>> shapeReflect(const StepContext &context, const Options &options,
                                         std::span<const Extent> in) {
  INGOT_CHECK(checkFactors(context, in[0], in[1]));
  if (in[0].rows != (options.left ? in[2].rows : in[2].columns))
    return Error(usageError(context.step.kernel + ": the matrices do not fit together"));
  return std::vector<Extent>{in[2]};
}

constexpr int kReflectOperands[] = {2, 1, 2};
constexpr Spec kReflect = {kReflectOperands, shapeReflect, computeReflect<double>, computeReflect<Complex>};

} // namespace
} // namespace linalg

using namespace linalg;
extern const KernelDef kernelDef_qr = {"qr", inferMatrices<kQr>, bindMatrices<kQr>, false};
extern const KernelDef kernelDef_householder = {"householder", inferMatrices<kHouseholder>, bindMatrices<kHouseholder>,
                                                false};
extern const KernelDef kernelDef_reflect = {"reflect", inferMatrices<kReflect>, bindMatrices<kReflect>, false};

} // namespace ingot
