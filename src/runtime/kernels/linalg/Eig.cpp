// eig: any square matrix, with complex arithmetic throughout. Reflections make it a Hessenberg matrix, QR steps with
// shifts make that triangular (its Schur form), and substitution gives the vectors.
#include "runtime/kernels/linalg/Batched.h"

#include <algorithm>
#include <limits>

namespace ingot {
namespace linalg {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxSteps = 60; ///< for one eigenvalue

struct Schur {
  Matrix<Complex> t, q;
};

/// Rows or columns i and i + 1 become their products with [[c, s], [-conj(s), c]].
struct Givens {
  double c;
  Complex s;

  /// The one that takes (a, b) to (r, 0).
  Givens(Complex a, Complex b) {
    const double length = std::hypot(std::abs(a), std::abs(b));
    const double size = std::abs(a);
    const Complex phase = size == 0 ? Complex(1) : a / size;
    c = length == 0 ? 1 : size / length;
    s = length == 0 ? Complex(0) : phase * std::conj(b) / length;
  }

  void rows(Matrix<Complex> &x, int64_t i, int64_t from) const {
    for (int64_t j = from; j < x.columns; ++j) {
      const Complex a = x(i, j), b = x(i + 1, j);
      x(i, j) = c * a + s * b;
      x(i + 1, j) = -std::conj(s) * a + c * b;
    }
  }

  void columns(Matrix<Complex> &x, int64_t j, int64_t rows) const {
    for (int64_t i = 0; i < rows; ++i) {
      const Complex a = x(i, j), b = x(i, j + 1);
      x(i, j) = c * a + std::conj(s) * b;
      x(i, j + 1) = -s * a + c * b;
    }
  }
};

/// One step towards Hessenberg form: zeros in column k below the subdiagonal.
void reduceColumn(Schur &schur, int64_t k) {
  Matrix<Complex> &t = schur.t;
  const int64_t n = t.rows;
  std::vector<Complex> v(static_cast<size_t>(n));
  double length = 0;
  for (int64_t i = k + 1; i < n; ++i) {
    v[static_cast<size_t>(i)] = t(i, k);
    length = std::hypot(length, std::abs(t(i, k)));
  }
  Complex &head = v[static_cast<size_t>(k + 1)];
  if (length == 0 || length == std::abs(head))
    return;
  head += (head == Complex(0) ? Complex(1) : head / std::abs(head)) * length;
  double square = 0;
  for (const Complex &element : v)
    square += std::norm(element);
  auto entry = [&](int64_t i) { return v[static_cast<size_t>(i)]; };
  for (int64_t j = 0; j < n; ++j) { // from the left
    Complex sum = 0;
    for (int64_t i = k + 1; i < n; ++i)
      sum += std::conj(entry(i)) * t(i, j);
    for (int64_t i = k + 1; i < n; ++i)
      t(i, j) -= 2.0 / square * sum * entry(i);
  }
  for (Matrix<Complex> *x : {&schur.t, &schur.q}) // from the right
    for (int64_t i = 0; i < n; ++i) {
      Complex sum = 0;
      for (int64_t j = k + 1; j < n; ++j)
        sum += (*x)(i, j) * entry(j);
      for (int64_t j = k + 1; j < n; ++j)
        (*x)(i, j) -= 2.0 / square * sum * std::conj(entry(j));
    }
  for (int64_t i = k + 2; i < n; ++i)
    t(i, k) = 0;
}

/// The eigenvalue of the last two by two block that is nearer to its last element.
Complex wilkinsonShift(const Matrix<Complex> &t, int64_t last) {
  const Complex a = t(last - 1, last - 1), b = t(last - 1, last), c = t(last, last - 1), d = t(last, last);
  const Complex half = (a - d) / 2.0;
  const Complex root = std::sqrt(half * half + b * c);
  const Complex sum = std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
  return sum == Complex(0) ? d : d - b * c / sum;
}

void qrStep(Schur &schur, int64_t first, int64_t last, Complex shift) {
  Matrix<Complex> &t = schur.t;
  for (int64_t i = first; i <= last; ++i)
    t(i, i) -= shift;
  std::vector<Givens> turns;
  for (int64_t i = first; i < last; ++i) {
    turns.emplace_back(t(i, i), t(i + 1, i));
    turns.back().rows(t, i, i);
  }
  for (int64_t i = first; i < last; ++i) {
    const Givens &turn = turns[static_cast<size_t>(i - first)];
    turn.columns(t, i, std::min(i + 2, last + 1));
    turn.columns(schur.q, i, t.rows);
  }
  // The shift belongs to the whole active block only, whose rows above and columns behind are turned already.
  for (int64_t i = first; i <= last; ++i)
    t(i, i) += shift;
}

/// Where the active block that ends at `last` begins; negligible elements below the diagonal become zeros.
int64_t blockStart(Matrix<Complex> &t, int64_t last) {
  for (int64_t i = last; i > 0; --i) {
    double scale = std::abs(t(i - 1, i - 1)) + std::abs(t(i, i));
    if (std::abs(t(i, i - 1)) <= kEpsilon * scale || std::abs(t(i, i - 1)) < std::numeric_limits<double>::min()) {
      t(i, i - 1) = 0;
      return i;
    }
  }
  return 0;
}

bool makeTriangular(Schur &schur) {
  const int64_t n = schur.t.rows;
  for (int64_t k = 0; k + 2 < n; ++k)
    reduceColumn(schur, k);
  int steps = 0;
  for (int64_t last = n - 1; last > 0;) {
    const int64_t first = blockStart(schur.t, last);
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kMaxSteps)
      return false;
    // Now and then another shift, in case the usual one goes round in circles.
    const bool isStuck = steps % 10 == 0;
    const Complex shift =
        isStuck ? schur.t(last, last) + std::abs(schur.t(last, last - 1)) : wilkinsonShift(schur.t, last);
    qrStep(schur, first, last, shift);
  }
  return true;
}

/// The eigenvector of element k of the diagonal, of length 1 and with a real largest entry.
std::vector<Complex> eigenvector(const Schur &schur, int64_t k, double smallest) {
  const int64_t n = schur.t.rows;
  std::vector<Complex> x(static_cast<size_t>(k + 1)), v(static_cast<size_t>(n));
  x.back() = 1;
  for (int64_t i = k - 1; i >= 0; --i) {
    Complex sum = 0;
    for (int64_t j = i + 1; j <= k; ++j)
      sum += schur.t(i, j) * x[static_cast<size_t>(j)];
    Complex divisor = schur.t(k, k) - schur.t(i, i);
    if (std::abs(divisor) < smallest)
      divisor = smallest;
    x[static_cast<size_t>(i)] = sum / divisor;
  }
  double length = 0;
  Complex largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    Complex sum = 0;
    for (int64_t j = 0; j <= k; ++j)
      sum += schur.q(i, j) * x[static_cast<size_t>(j)];
    v[static_cast<size_t>(i)] = sum;
    length = std::hypot(length, std::abs(sum));
    if (std::abs(sum) > std::abs(largest) * (1 + 8 * kEpsilon))
      largest = sum;
  }
  const Complex factor = std::conj(largest) / std::abs(largest) / length;
  for (Complex &element : v)
    element *= factor;
  return v;
}

/// Eigenvalues of a real matrix are real or come in pairs, of which rounding has left little.
void restorePairs(Matrix<Complex> &values, Matrix<Complex> &vectors) {
  const int64_t n = values.rows;
  auto swapWith = [&](int64_t i, int64_t j) {
    std::swap(values[i], values[j]);
    for (int64_t row = 0; row < n; ++row)
      std::swap(vectors(row, i), vectors(row, j));
  };
  for (int64_t i = 0; i < n; ++i) {
    int64_t partner = i;
    for (int64_t j = i + 1; j < n; ++j)
      if (std::abs(values[i] - std::conj(values[j])) < std::abs(values[i] - std::conj(values[partner])))
        partner = j;
    if (partner == i) {
      values[i] = values[i].real();
      for (int64_t row = 0; row < n; ++row)
        vectors(row, i) = vectors(row, i).real();
      continue;
    }
    swapWith(i + 1, partner);
    if (values[i].imag() < 0)
      swapWith(i, i + 1);
    values[i + 1] = std::conj(values[i]);
    for (int64_t row = 0; row < n; ++row)
      vectors(row, i + 1) = std::conj(vectors(row, i));
    ++i;
  }
}

Status compute(const Call<Complex> &call) {
  const int64_t n = call.in[0].rows;
  if (!allFinite(call.in[0]))
    return usageError("torch.linalg.eig: input tensor should not contain infs or NaNs.");
  Schur schur{std::move(call.in[0]), Matrix<Complex>::identity(n)};
  double size = 0;
  for (const Complex &element : schur.t.data)
    size = std::max(size, std::abs(element));
  if (!makeTriangular(schur))
    return usageError("linalg.eig: " + call.where + "The algorithm failed to converge.");
  const double smallest = std::max(size * kEpsilon, std::numeric_limits<double>::min());
  for (int64_t j = 0; j < n; ++j) {
    call.out[0][j] = schur.t(j, j);
    const std::vector<Complex> v = eigenvector(schur, j, smallest);
    for (int64_t i = 0; i < n; ++i)
      call.out[1](i, j) = v[static_cast<size_t>(i)];
  }
  if (call.options.isRealInput)
    restorePairs(call.out[0], call.out[1]);
  return {};
}

Result<std::vector<Extent>> shape(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkSquare(context, in[0]));
  return std::vector<Extent>{vectorOf(in[0].rows), in[0]};
}

constexpr int kOperands[] = {2};
constexpr Spec kEig = {kOperands, shape, nullptr, compute};

} // namespace
} // namespace linalg

extern const KernelDef kernelDef_eig = {"eig", linalg::inferMatrices<linalg::kEig>, linalg::bindMatrices<linalg::kEig>,
                                        false};

} // namespace ingot
