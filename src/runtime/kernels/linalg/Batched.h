// Kernels that do the same with each matrix of a batch: how they are told, and how they are called.
#pragma once

#include "runtime/Kernel.h"
#include "runtime/kernels/linalg/Matrix.h"

#include <span>
#include <string>
#include <vector>

namespace ingot::linalg {

/// What one batch entry of an operand or a result is.
struct Extent {
  int trailing = 0; ///< dimensions of its own: 0 a number, 1 a vector, 2 a matrix
  int64_t rows = 1, columns = 1;
};

inline Extent number() { return {}; }
inline Extent vectorOf(int64_t size) { return {1, size, 1}; }
inline Extent matrixOf(int64_t rows, int64_t columns) { return {2, rows, columns}; }

/// The attributes of all kernels of this family.
struct Options {
  bool upper = false, unit = false, adjoint = false, left = true, full = false, hermitian = false;
  double rcond = 0;
  std::string check;
  bool isRealInput = true; ///< of the first operand
};

template <typename T> struct Call {
  const Options &options;
  std::span<Matrix<T>> in; ///< a copy that the function may change
  std::span<Matrix<T>> out;
  std::string where; ///< "(Batch element 3): ", or nothing
};

struct Spec {
  std::span<const int> operands; ///< their numbers of trailing dimensions
  Result<std::vector<Extent>> (*results)(const StepContext &, const Options &, std::span<const Extent>);
  Status (*real)(const Call<double> &); ///< null: computed with complex numbers always
  Status (*complex)(const Call<Complex> &);
};

Result<std::vector<ResultDesc>> inferBatched(const StepContext &context, const Spec &spec);
Result<std::unique_ptr<BoundKernel>> bindBatched(const StepContext &context, const Spec &spec,
                                                 std::span<const TensorDesc> results);

template <const Spec &spec> Result<std::vector<ResultDesc>> inferMatrices(const StepContext &context) {
  return inferBatched(context, spec);
}
template <const Spec &spec>
Result<std::unique_ptr<BoundKernel>> bindMatrices(const StepContext &context, std::span<const TensorDesc> results) {
  return bindBatched(context, spec, results);
}

/// An error unless the matrix is square.
Status checkSquare(const StepContext &context, const Extent &extent);
/// An error unless `b` has as many rows as `a`.
Status checkRows(const StepContext &context, const Extent &a, const Extent &b);

/// Of solvers that take factors, pivots and a right side.
inline constexpr int kSolveOperands[] = {2, 1, 2};
Result<std::vector<Extent>> shapeSolve(const StepContext &context, const Options &options, std::span<const Extent> in);

/// Pivots of an operand as integers; those that name no row are an error.
template <typename T> Result<std::vector<int64_t>> readPivots(const Matrix<T> &pivots, int64_t rows) {
  std::vector<int64_t> result;
  for (const T &pivot : pivots.data) {
    const double value = realPart(pivot);
    if (!(std::abs(value) >= 1 && std::abs(value) <= static_cast<double>(rows)))
      return usageError("pivots must be numbers of rows, from 1 to " + std::to_string(rows));
    result.push_back(static_cast<int64_t>(value));
  }
  return result;
}

} // namespace ingot::linalg
