// svd and lstsq: one-sided Jacobi, which turns the columns of a matrix until they are orthogonal.
#include "runtime/kernels/linalg/Batched.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ingot {
namespace linalg {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxSweeps = 80;

template <typename T> T inner(const T *a, const T *b, int64_t count) {
  T sum(0);
  for (int64_t i = 0; i < count; ++i)
    sum += conj(a[i]) * b[i];
  return sum;
}

template <typename T> double length(const T *a, int64_t count) {
  double largest = 0, sum = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::abs(a[i]));
  if (largest == 0)
    return 0;
  for (int64_t i = 0; i < count; ++i)
    sum += norm2(a[i] / largest);
  return largest * std::sqrt(sum);
}

/// The vectors are the rows of `w`, so that each lies in one piece; `v` takes part in every turn.
template <typename T> bool sweep(Matrix<T> &w, Matrix<T> &v) {
  bool isChanged = false;
  for (int64_t p = 0; p < w.rows; ++p)
    for (int64_t q = p + 1; q < w.rows; ++q) {
      const double a = realPart(inner(w.row(p), w.row(p), w.columns));
      const double b = realPart(inner(w.row(q), w.row(q), w.columns));
      const T c = inner(w.row(p), w.row(q), w.columns);
      if (!(std::abs(c) > 4 * kEpsilon * std::sqrt(a) * std::sqrt(b)) ||
          std::abs(c) < std::numeric_limits<double>::min())
        continue;
      const Rotation<T> turn(a, b, c);
      for (int64_t i = 0; i < w.columns; ++i)
        turn.apply(w.row(p)[i], w.row(q)[i]);
      for (int64_t i = 0; i < v.columns; ++i)
        turn.apply(v.row(p)[i], v.row(q)[i]);
      isChanged = true;
    }
  return isChanged;
}

/// Takes the parts along the first `count` rows of `u` off row `count`; gives its length after that.
template <typename T> double orthogonalise(Matrix<T> &u, int64_t count) {
  T *row = u.row(count);
  for (int pass = 0; pass < 2; ++pass)
    for (int64_t k = 0; k < count; ++k) {
      const T part = inner(u.row(k), row, u.columns);
      for (int64_t i = 0; i < u.columns; ++i)
        row[i] -= part * u.row(k)[i];
    }
  const double size = length(row, u.columns);
  for (int64_t i = 0; i < u.columns && size > 0; ++i)
    row[i] /= size;
  return size;
}

/// Fills the rows of `u` from `known` on, so that all are orthogonal and of length 1.
template <typename T> void complete(Matrix<T> &u, int64_t known) {
  int64_t candidate = 0;
  for (int64_t row = known; row < u.rows; ++row) {
    // Some unit vector always keeps this much of its length.
    const double enough = 0.5 * std::sqrt(static_cast<double>(u.columns - row) / static_cast<double>(u.columns));
    for (int64_t tries = 0; tries < u.columns; ++tries, ++candidate) {
      std::fill(u.row(row), u.row(row) + u.columns, T(0));
      u.row(row)[candidate % u.columns] = T(1);
      if (orthogonalise(u, row) >= enough)
        break;
    }
    ++candidate;
  }
}

/// The columns of a matrix with at least as many rows as columns.
template <typename T> bool tallSvd(const Matrix<T> &x, bool isFull, Svd<T> &result) {
  const int64_t rows = x.rows, columns = x.columns;
  double scale = 0;
  for (const T &element : x.data)
    scale = std::max(scale, std::abs(element));
  Matrix<T> w(columns, rows), v = Matrix<T>::identity(columns);
  for (int64_t i = 0; i < rows && scale > 0; ++i)
    for (int64_t j = 0; j < columns; ++j)
      w(j, i) = x(i, j) / scale;
  bool isDone = false;
  for (int i = 0; i < kMaxSweeps && !isDone; ++i)
    isDone = !sweep(w, v);
  std::vector<double> sizes;
  for (int64_t j = 0; j < columns; ++j)
    sizes.push_back(length(w.row(j), rows));
  std::vector<int64_t> order(static_cast<size_t>(columns));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t j) { return std::pair(-sizes[static_cast<size_t>(j)], j); });
  Matrix<T> u(isFull ? rows : columns, rows); // vectors as rows
  result.vh = Matrix<T>(columns, columns);
  int64_t known = 0;
  const double largest = columns ? sizes[static_cast<size_t>(order[0])] : 0;
  result.s.clear();
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    const double size = sizes[static_cast<size_t>(from)];
    result.s.push_back(size * scale);
    for (int64_t i = 0; i < columns; ++i)
      result.vh(j, i) = conj(v(from, i));
    if (size > largest * kEpsilon * static_cast<double>(rows)) {
      for (int64_t i = 0; i < rows; ++i)
        u(j, i) = w(from, i) / size;
      known = j + 1;
    }
  }
  complete(u, known);
  result.u = Matrix<T>(rows, u.rows);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < u.rows; ++j)
      result.u(i, j) = u(j, i);
  return isDone;
}

} // namespace

template <typename T> bool computeSvd(const Matrix<T> &x, bool isFull, Svd<T> &result) {
  if (!allFinite(x))
    return false;
  if (x.rows >= x.columns)
    return tallSvd(x, isFull, result);
  Svd<T> turned;
  const bool isDone = tallSvd(adjoint(x), isFull, turned);
  result.s = std::move(turned.s);
  result.u = adjoint(turned.vh);
  result.vh = adjoint(turned.u);
  return isDone;
}

template bool computeSvd(const Matrix<double> &, bool, Svd<double> &);
template bool computeSvd(const Matrix<Complex> &, bool, Svd<Complex> &);

namespace {

Error notConverged(const std::string &name, const std::string &where) {
  return usageError(name + ": " + where +
                    "The algorithm failed to converge because the input matrix contained non-finite values.");
}

template <typename T> Status compute(const Call<T> &call) {
  Svd<T> svd;
  if (!computeSvd(call.in[0], call.options.full, svd))
    return notConverged("linalg.svd", call.where);
  call.out[0] = std::move(svd.u);
  for (size_t i = 0; i < svd.s.size(); ++i)
    call.out[1].data[i] = svd.s[i];
  call.out[2] = std::move(svd.vh);
  return {};
}

Result<std::vector<Extent>> shape(const StepContext &, const Options &options, std::span<const Extent> in) {
  const int64_t rows = in[0].rows, columns = in[0].columns, count = std::min(rows, columns);
  return std::vector<Extent>{matrixOf(rows, options.full ? rows : count), vectorOf(count),
                             matrixOf(options.full ? columns : count, columns)};
}

constexpr int kOneMatrix[] = {2};
constexpr Spec kSvd = {kOneMatrix, shape, compute<double>, compute<Complex>};

template <typename T> Status computeLstsq(const Call<T> &call) {
  Svd<T> svd;
  if (!computeSvd(call.in[0], false, svd))
    return notConverged("torch.linalg.lstsq", call.where);
  const double threshold = svd.s.empty() ? 0 : svd.s.front() * call.options.rcond;
  Matrix<T> parts = multiply(adjoint(svd.u), call.in[1]);
  int64_t rank = 0;
  for (int64_t i = 0; i < parts.rows; ++i) {
    const double value = svd.s[static_cast<size_t>(i)];
    const bool counts = value > threshold;
    rank += counts;
    for (int64_t j = 0; j < parts.columns; ++j)
      parts(i, j) = counts ? parts(i, j) / value : T(0);
    call.out[2][i] = value;
  }
  call.out[0] = multiply(adjoint(svd.vh), parts);
  call.out[1][0] = static_cast<double>(rank);
  return {};
}

Result<std::vector<Extent>> shapeLstsq(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkRows(context, in[0], in[1]));
  return std::vector<Extent>{matrixOf(in[0].columns, in[1].columns), number(),
                             vectorOf(std::min(in[0].rows, in[0].columns))};
}

constexpr int kTwoMatrices[] = {2, 2};
constexpr Spec kLstsq = {kTwoMatrices, shapeLstsq, computeLstsq<double>, computeLstsq<Complex>};

} // namespace
} // namespace linalg

using namespace linalg;
extern const KernelDef kernelDef_svd = {"svd", inferMatrices<kSvd>, bindMatrices<kSvd>, false};
extern const KernelDef kernelDef_lstsq = {"lstsq", inferMatrices<kLstsq>, bindMatrices<kLstsq>, false};

} // namespace ingot
