// ldl and ldl_solve: Bunch and Kaufman's pivoting on the lower triangle, as LAPACK's sytf2 and hetf2 do it, so that
// factors and pivots are the same.
#include "runtime/kernels/linalg/Batched.h"

#include <algorithm>

namespace ingot {
namespace linalg {
namespace {

template <typename T> class Factorisation {
public:
  Factorisation(Matrix<T> &a, bool isHermitian) : a(a), n(a.rows), isHermitian(isHermitian) {}

  std::vector<int64_t> pivots;
  int64_t info = 0;

  void run() {
    pivots.assign(static_cast<size_t>(n), 0);
    for (int64_t k = 0; k < n;) {
      const Pivot pivot = choose(k);
      exchange(k, pivot);
      if (pivot.size == 1) {
        if (!pivot.isZero)
          eliminateOne(k);
        pivots[static_cast<size_t>(k)] = pivot.row + 1;
      } else {
        eliminateTwo(k);
        pivots[static_cast<size_t>(k)] = pivots[static_cast<size_t>(k + 1)] = -(pivot.row + 1);
      }
      k += pivot.size;
    }
  }

private:
  struct Pivot {
    int64_t row;
    int64_t size;
    bool isZero;
  };

  double diagonalSize(int64_t k) const { return isHermitian ? std::abs(realPart(a(k, k))) : pivotSize(a(k, k)); }
  T mirror(T x) const { return isHermitian ? conj(x) : x; }

  /// The row of the largest element of column k from row `from` on.
  int64_t largestBelow(int64_t k, int64_t from) const {
    int64_t best = from;
    for (int64_t i = from + 1; i < n; ++i)
      if (pivotSize(a(i, k)) > pivotSize(a(best, k)))
        best = i;
    return best;
  }

  Pivot choose(int64_t k) {
    const double alpha = (1 + std::sqrt(17.0)) / 8;
    const double diagonal = diagonalSize(k);
    const int64_t row = k + 1 < n ? largestBelow(k, k + 1) : k;
    const double largest = k + 1 < n ? pivotSize(a(row, k)) : 0;
    if (std::max(diagonal, largest) == 0 || std::isnan(diagonal)) {
      info = info ? info : k + 1;
      return {k, 1, true};
    }
    if (diagonal >= alpha * largest)
      return {k, 1, false};
    double beside = 0;
    for (int64_t j = k; j < row; ++j)
      beside = std::max(beside, pivotSize(a(row, j)));
    for (int64_t i = row + 1; i < n; ++i)
      beside = std::max(beside, pivotSize(a(i, row)));
    if (diagonal >= alpha * largest * (largest / beside))
      return {k, 1, false};
    return {row, diagonalSize(row) >= alpha * beside ? 1 : 2, false};
  }

  void exchange(int64_t k, const Pivot &pivot) {
    const int64_t from = k + pivot.size - 1, to = pivot.row;
    if (from == to)
      return;
    for (int64_t i = to + 1; i < n; ++i)
      std::swap(a(i, from), a(i, to));
    for (int64_t i = from + 1; i < to; ++i) {
      const T above = mirror(a(i, from));
      a(i, from) = mirror(a(to, i));
      a(to, i) = above;
    }
    a(to, from) = mirror(a(to, from));
    std::swap(a(from, from), a(to, to));
    if (pivot.size == 2)
      std::swap(a(k + 1, k), a(to, k));
  }

  void eliminateOne(int64_t k) {
    if (isHermitian)
      a(k, k) = realPart(a(k, k));
    const T inverse = T(1) / a(k, k);
    for (int64_t j = k + 1; j < n; ++j) {
      const T factor = inverse * mirror(a(j, k));
      for (int64_t i = j; i < n; ++i)
        a(i, j) -= a(i, k) * factor;
      if (isHermitian)
        a(j, j) = realPart(a(j, j));
    }
    for (int64_t i = k + 1; i < n; ++i)
      a(i, k) *= inverse;
  }

  /// The rows below become their products with the inverse of [[d0, mirror(c)], [c, d1]].
  void eliminateTwo(int64_t k) {
    const T c = a(k + 1, k), d0 = a(k, k), d1 = a(k + 1, k + 1);
    const T determinant = d0 * d1 - c * mirror(c);
    for (int64_t j = k + 2; j < n; ++j) {
      const T left = (a(j, k) * d1 - a(j, k + 1) * c) / determinant;
      const T right = (a(j, k + 1) * d0 - a(j, k) * mirror(c)) / determinant;
      for (int64_t i = j; i < n; ++i)
        a(i, j) -= a(i, k) * mirror(left) + a(i, k + 1) * mirror(right);
      a(j, k) = left;
      a(j, k + 1) = right;
      if (isHermitian)
        a(j, j) = realPart(a(j, j));
    }
  }

  Matrix<T> &a;
  int64_t n;
  bool isHermitian;
};

template <typename T> Status compute(const Call<T> &call) {
  Matrix<T> &a = call.in[0];
  Factorisation<T> ldl(a, call.options.hermitian);
  ldl.run();
  if (ldl.info != 0 && !call.options.check.empty())
    return usageError(call.options.check + ": " + call.where + "The factorization could not be completed because D[" +
                      std::to_string(ldl.info) + "," + std::to_string(ldl.info) + "] is exactly zero.");
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = i + 1; j < a.columns; ++j)
      a(i, j) = T(0);
  for (size_t i = 0; i < ldl.pivots.size(); ++i)
    call.out[1].data[i] = static_cast<double>(ldl.pivots[i]);
  call.out[2][0] = static_cast<double>(ldl.info);
  call.out[0] = std::move(a);
  return {};
}

Result<std::vector<Extent>> shape(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkSquare(context, in[0]));
  return std::vector<Extent>{in[0], vectorOf(in[0].rows), number()};
}

constexpr int kOneMatrix[] = {2};
constexpr Spec kLdl = {kOneMatrix, shape, compute<double>, compute<Complex>};

//===------------------------------------------------------------------------------------------===//
// ldl_solve
//===------------------------------------------------------------------------------------------===//

template <typename T> class Solution {
public:
  Solution(const Matrix<T> &ld, std::vector<int64_t> pivots, Matrix<T> &b, bool isHermitian)
      : ld(ld), pivots(std::move(pivots)), b(b), isHermitian(isHermitian) {}

  void run() {
    const int64_t n = ld.rows;
    for (int64_t k = 0; k < n;) {
      const int64_t size = sizeAt(k);
      swapRows(k + size - 1, rowOf(k));
      for (int64_t i = k + size; i < n; ++i)
        for (int64_t part = 0; part < size; ++part)
          subtract(i, k + part, ld(i, k + part));
      size == 1 ? divideOne(k) : divideTwo(k);
      k += size;
    }
    for (int64_t k = n - 1; k >= 0;) {
      const int64_t size = isPair(k) && k > 0 ? 2 : 1;
      for (int64_t part = 0; part < size; ++part)
        for (int64_t i = k + 1; i < n; ++i)
          subtract(k - part, i, mirror(ld(i, k - part)));
      swapRows(k, rowOf(k));
      k -= size;
    }
  }

private:
  T mirror(T x) const { return isHermitian ? conj(x) : x; }
  bool isPair(int64_t k) const { return pivots[static_cast<size_t>(k)] < 0; }
  int64_t sizeAt(int64_t k) const { return isPair(k) && k + 1 < ld.rows ? 2 : 1; }
  int64_t rowOf(int64_t k) const { return std::abs(pivots[static_cast<size_t>(k)]) - 1; }

  void swapRows(int64_t i, int64_t j) {
    if (i != j)
      std::swap_ranges(b.row(i), b.row(i) + b.columns, b.row(j));
  }
  void subtract(int64_t target, int64_t source, T factor) {
    for (int64_t j = 0; j < b.columns; ++j)
      b(target, j) -= factor * b(source, j);
  }
  void divideOne(int64_t k) {
    for (int64_t j = 0; j < b.columns; ++j)
      b(k, j) /= ld(k, k);
  }
  void divideTwo(int64_t k) {
    const T c = ld(k + 1, k), d0 = ld(k, k), d1 = ld(k + 1, k + 1);
    const T determinant = d0 * d1 - c * mirror(c);
    for (int64_t j = 0; j < b.columns; ++j) {
      const T first = b(k, j), second = b(k + 1, j);
      b(k, j) = (d1 * first - mirror(c) * second) / determinant;
      b(k + 1, j) = (d0 * second - c * first) / determinant;
    }
  }

  const Matrix<T> &ld;
  std::vector<int64_t> pivots;
  Matrix<T> &b;
  bool isHermitian;
};

template <typename T> Status computeSolve(const Call<T> &call) {
  INGOT_TRY(std::vector<int64_t> pivots, readPivots(call.in[1], call.in[0].rows));
  Solution<T>(call.in[0], std::move(pivots), call.in[2], call.options.hermitian).run();
  call.out[0] = std::move(call.in[2]);
  return {};
}

constexpr Spec kLdlSolve = {kSolveOperands, shapeSolve, computeSolve<double>, computeSolve<Complex>};

} // namespace
} // namespace linalg

using namespace linalg;
extern const KernelDef kernelDef_ldl = {"ldl", inferMatrices<kLdl>, bindMatrices<kLdl>, false};
extern const KernelDef kernelDef_ldl_solve = {"ldl_solve", inferMatrices<kLdlSolve>, bindMatrices<kLdlSolve>, false};

} // namespace ingot
