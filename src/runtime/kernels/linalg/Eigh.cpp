// eigh: Jacobi's method, which turns a Hermitian matrix by plane rotations until it is diagonal.
#include "runtime/kernels/linalg/Batched.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ingot {
namespace linalg {
namespace {

constexpr int kMaxSweeps = 60;

/// A whole Hermitian matrix from one of its triangles.
template <typename T> Matrix<T> mirrored(const Matrix<T> &a, bool isUpper) {
  Matrix<T> result(a.rows, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const T element = isUpper ? conj(a(j, i)) : a(i, j);
      result(i, j) = i == j ? T(realPart(element)) : element;
      result(j, i) = i == j ? T(realPart(element)) : conj(element);
    }
  return result;
}

/// One rotation of rows and columns p and q; the columns of `v` follow.
template <typename T> void rotate(Matrix<T> &a, Matrix<T> &v, int64_t p, int64_t q) {
  const Rotation<T> turn(realPart(a(p, p)), realPart(a(q, q)), a(p, q));
  for (int64_t i = 0; i < a.rows; ++i)
    turn.apply(a(i, p), a(i, q));
  for (int64_t j = 0; j < a.rows; ++j) {
    T first = conj(a(p, j)), second = conj(a(q, j));
    turn.apply(first, second);
    a(p, j) = conj(first);
    a(q, j) = conj(second);
  }
  a(p, q) = a(q, p) = T(0);
  a(p, p) = realPart(a(p, p));
  a(q, q) = realPart(a(q, q));
  for (int64_t i = 0; i < v.rows; ++i)
    turn.apply(v(i, p), v(i, q));
}

/// Whether anything was left to do.
template <typename T> bool sweep(Matrix<T> &a, Matrix<T> &v, double threshold) {
  bool isChanged = false;
  for (int64_t p = 0; p < a.rows; ++p)
    for (int64_t q = p + 1; q < a.rows; ++q) {
      if (std::abs(a(p, q)) <= threshold)
        continue;
      rotate(a, v, p, q);
      isChanged = true;
    }
  return isChanged;
}

template <typename T> Status compute(const Call<T> &call) {
  Matrix<T> a = mirrored(call.in[0], call.options.upper);
  const int64_t n = a.rows;
  double size = 0;
  for (const T &element : a.data)
    size = std::hypot(size, std::abs(element));
  Matrix<T> v = Matrix<T>::identity(n);
  const double threshold =
      size * std::numeric_limits<double>::epsilon() / static_cast<double>(16 * std::max<int64_t>(n, 1));
  bool isDone = false;
  for (int i = 0; i < kMaxSweeps && !isDone && allFinite(a); ++i)
    isDone = !sweep(a, v, threshold);
  if (!isDone)
    return usageError("linalg.eigh: " + call.where +
                      "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                      "repeated eigenvalues, or contains non-finite values.");
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t i) { return std::pair(realPart(a(i, i)), i); });
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    call.out[0][j] = realPart(a(from, from));
    for (int64_t i = 0; i < n; ++i)
      call.out[1](i, j) = v(i, from);
  }
  return {};
}

Result<std::vector<Extent>> shape(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkSquare(context, in[0]));
  return std::vector<Extent>{vectorOf(in[0].rows), in[0]};
}

constexpr int kOperands[] = {2};
constexpr Spec kEigh = {kOperands, shape, compute<double>, compute<Complex>};

} // namespace
} // namespace linalg

extern const KernelDef kernelDef_eigh = {"eigh", linalg::inferMatrices<linalg::kEigh>,
                                         linalg::bindMatrices<linalg::kEigh>, false};

} // namespace ingot
