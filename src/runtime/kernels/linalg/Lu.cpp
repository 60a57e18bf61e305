// lu, inverse and what is computed from LU factors: lu_solve, lu_det, lu_permutation.
#include "runtime/kernels/linalg/Batched.h"

#include <algorithm>

namespace ingot {
namespace linalg {

template <typename T> int64_t factorLu(Matrix<T> &a, std::vector<int64_t> &pivots) {
  const int64_t steps = std::min(a.rows, a.columns);
  int64_t info = 0;
  pivots.assign(static_cast<size_t>(steps), 0);
  for (int64_t k = 0; k < steps; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (pivotSize(a(i, k)) > pivotSize(a(best, k)))
        best = i;
    pivots[static_cast<size_t>(k)] = best + 1;
    if (best != k)
      std::swap_ranges(a.row(k), a.row(k) + a.columns, a.row(best));
    const T pivot = a(k, k);
    if (pivot == T(0)) {
      info = info ? info : k + 1;
      continue;
    }
    for (int64_t i = k + 1; i < a.rows; ++i) {
      const T factor = a(i, k) / pivot;
      a(i, k) = factor;
      for (int64_t j = k + 1; j < a.columns; ++j)
        a(i, j) -= factor * a(k, j);
    }
  }
  return info;
}

namespace {

/// target row -= factor * source row
template <typename T> void subtractRow(Matrix<T> &b, int64_t target, int64_t source, T factor) {
  T *to = b.row(target);
  const T *from = b.row(source);
  for (int64_t j = 0; j < b.columns; ++j)
    to[j] -= factor * from[j];
}

template <typename T> void divideRow(Matrix<T> &b, int64_t row, T divisor) {
  for (int64_t j = 0; j < b.columns; ++j)
    b(row, j) /= divisor;
}

template <typename T> void swapRows(Matrix<T> &b, int64_t i, int64_t j) {
  if (i != j)
    std::swap_ranges(b.row(i), b.row(i) + b.columns, b.row(j));
}

template <typename T> void solvePlain(const Matrix<T> &lu, const std::vector<int64_t> &pivots, Matrix<T> &b) {
  const int64_t n = lu.rows;
  for (size_t i = 0; i < pivots.size(); ++i)
    swapRows(b, static_cast<int64_t>(i), pivots[i] - 1);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < i; ++k)
      subtractRow(b, i, k, lu(i, k));
  for (int64_t i = n - 1; i >= 0; --i) {
    for (int64_t k = i + 1; k < n; ++k)
      subtractRow(b, i, k, lu(i, k));
    divideRow(b, i, lu(i, i));
  }
}

template <typename T> void solveAdjoint(const Matrix<T> &lu, const std::vector<int64_t> &pivots, Matrix<T> &b) {
  const int64_t n = lu.rows;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < i; ++k)
      subtractRow(b, i, k, conj(lu(k, i)));
    divideRow(b, i, conj(lu(i, i)));
  }
  for (int64_t i = n - 1; i >= 0; --i)
    for (int64_t k = i + 1; k < n; ++k)
      subtractRow(b, i, k, conj(lu(k, i)));
  for (size_t i = pivots.size(); i-- > 0;)
    swapRows(b, static_cast<int64_t>(i), pivots[i] - 1);
}

} // namespace

template <typename T>
void solveLu(const Matrix<T> &lu, const std::vector<int64_t> &pivots, Matrix<T> &b, bool isAdjoint) {
  isAdjoint ? solveAdjoint(lu, pivots, b) : solvePlain(lu, pivots, b);
}

template int64_t factorLu(Matrix<double> &, std::vector<int64_t> &);
template int64_t factorLu(Matrix<Complex> &, std::vector<int64_t> &);
template void solveLu(const Matrix<double> &, const std::vector<int64_t> &, Matrix<double> &, bool);
template void solveLu(const Matrix<Complex> &, const std::vector<int64_t> &, Matrix<Complex> &, bool);

namespace {

//===------------------------------------------------------------------------------------------===//
// lu
//===------------------------------------------------------------------------------------------===//

template <typename T> Status computeLu(const Call<T> &call) {
  std::vector<int64_t> pivots;
  const int64_t info = factorLu(call.in[0], pivots);
  const std::string &name = call.options.check;
  if (info != 0 && !name.empty()) {
    std::string what = name == "linalg.lu_factor" || name == "linalg.lu_factor_ex"
                           ? "U[" + std::to_string(info) + "," + std::to_string(info) +
                                 "] is zero and using it on lu_solve would result in a division by zero. If you still "
                                 "want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                                 "linalg.lu_factor_ex(A, pivot)"
                           : "The solver failed because the input matrix is singular.";
    return usageError(name + ": " + call.where + what);
  }
  call.out[0] = std::move(call.in[0]);
  for (size_t i = 0; i < pivots.size(); ++i)
    call.out[1].data[i] = static_cast<double>(pivots[i]);
  call.out[2][0] = static_cast<double>(info);
  return {};
}

Result<std::vector<Extent>> shapeLu(const StepContext &, const Options &, std::span<const Extent> in) {
  return std::vector<Extent>{in[0], vectorOf(std::min(in[0].rows, in[0].columns)), number()};
}

constexpr int kOneMatrix[] = {2};
constexpr Spec kLu = {kOneMatrix, shapeLu, computeLu<double>, computeLu<Complex>};

//===------------------------------------------------------------------------------------------===//
// inverse
//===------------------------------------------------------------------------------------------===//

template <typename T> Status computeInverse(const Call<T> &call) {
  std::vector<int64_t> pivots;
  const int64_t info = factorLu(call.in[0], pivots);
  if (info != 0 && !call.options.check.empty())
    return usageError(call.options.check + ": " + call.where + "The diagonal element " + std::to_string(info) +
                      " is zero, the inversion could not be completed because the input matrix is singular.");
  call.out[0] = Matrix<T>::identity(call.in[0].rows);
  solveLu(call.in[0], pivots, call.out[0], false);
  call.out[1][0] = static_cast<double>(info);
  return {};
}

Result<std::vector<Extent>> shapeInverse(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkSquare(context, in[0]));
  return std::vector<Extent>{in[0], number()};
}

constexpr Spec kInverse = {kOneMatrix, shapeInverse, computeInverse<double>, computeInverse<Complex>};

//===------------------------------------------------------------------------------------------===//
// lu_solve
//===------------------------------------------------------------------------------------------===//

template <typename T> Status computeSolve(const Call<T> &call) {
  INGOT_TRY(std::vector<int64_t> pivots, readPivots(call.in[1], call.in[0].rows));
  for (int64_t &pivot : pivots)
    pivot = std::abs(pivot);
  solveLu(call.in[0], pivots, call.in[2], call.options.adjoint);
  call.out[0] = std::move(call.in[2]);
  return {};
}

constexpr Spec kSolve = {kSolveOperands, shapeSolve, computeSolve<double>, computeSolve<Complex>};

//===------------------------------------------------------------------------------------------===//
// lu_det
//===------------------------------------------------------------------------------------------===//

template <typename T> Status computeDet(const Call<T> &call) {
  const Matrix<T> &lu = call.in[0];
  T det(1), sign(1);
  double logarithm = 0;
  for (int64_t i = 0; i < lu.rows; ++i) {
    if (realPart(call.in[1][i]) != static_cast<double>(i + 1)) {
      det = -det;
      sign = -sign;
    }
    const T element = lu(i, i);
    const double size = std::abs(element);
    det *= element;
    sign *= size == 0 ? T(0) : element / size;
    logarithm += std::log(size);
  }
  call.out[0][0] = det;
  call.out[1][0] = sign;
  call.out[2][0] = logarithm;
  return {};
}

Result<std::vector<Extent>> shapeDet(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkSquare(context, in[0]));
  INGOT_CHECK(checkRows(context, in[0], in[1]));
  return std::vector<Extent>{number(), number(), number()};
}

constexpr int kLuOperands[] = {2, 1};
constexpr Spec kDet = {kLuOperands, shapeDet, computeDet<double>, computeDet<Complex>};

//===------------------------------------------------------------------------------------------===//
// lu_permutation
//===------------------------------------------------------------------------------------------===//

template <typename T> Status computePermutation(const Call<T> &call) {
  const int64_t rows = call.in[0].rows;
  INGOT_TRY(std::vector<int64_t> pivots, readPivots(call.in[1], rows));
  std::vector<int64_t> order(static_cast<size_t>(rows));
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int64_t>(i);
  for (size_t i = 0; i < pivots.size(); ++i)
    std::swap(order[i], order[static_cast<size_t>(std::abs(pivots[i]) - 1)]);
  for (size_t i = 0; i < order.size(); ++i)
    call.out[0](order[i], static_cast<int64_t>(i)) = T(1);
  return {};
}

Result<std::vector<Extent>> shapePermutation(const StepContext &context, const Options &, std::span<const Extent> in) {
  if (in[1].rows > in[0].rows)
    return Error(usageError(context.step.kernel + ": there are more pivots than rows"));
  return std::vector<Extent>{matrixOf(in[0].rows, in[0].rows)};
}

constexpr Spec kPermutation = {kLuOperands, shapePermutation, computePermutation<double>, computePermutation<Complex>};

} // namespace
} // namespace linalg

using namespace linalg;
extern const KernelDef kernelDef_lu = {"lu", inferMatrices<kLu>, bindMatrices<kLu>, false};
extern const KernelDef kernelDef_inverse = {"inverse", inferMatrices<kInverse>, bindMatrices<kInverse>, false};
extern const KernelDef kernelDef_lu_solve = {"lu_solve", inferMatrices<kSolve>, bindMatrices<kSolve>, false};
extern const KernelDef kernelDef_lu_det = {"lu_det", inferMatrices<kDet>, bindMatrices<kDet>, false};
extern const KernelDef kernelDef_lu_permutation = {"lu_permutation", inferMatrices<kPermutation>,
                                                   bindMatrices<kPermutation>, false};

} // namespace ingot
