// Small dense matrices of double precision, and the factorisations that several kernels use. Simple loops: right first.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

namespace ingot::linalg {

using Complex = std::complex<double>;

inline double conj(double x) { return x; }
inline Complex conj(Complex x) { return std::conj(x); }
inline double realPart(double x) { return x; }
inline double realPart(Complex x) { return x.real(); }
/// |x|², without the square root.
inline double norm2(double x) { return x * x; }
inline double norm2(Complex x) { return std::norm(x); }
/// The magnitude by which LAPACK compares candidates for a pivot.
inline double pivotSize(double x) { return std::abs(x); }
inline double pivotSize(Complex x) { return std::abs(x.real()) + std::abs(x.imag()); }
inline bool isFinite(double x) { return std::isfinite(x); }
inline bool isFinite(Complex x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

/// Row-major. Vectors have one column.
template <typename T> struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<T> data;

  Matrix() = default;
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), data(static_cast<size_t>(rows) * static_cast<size_t>(columns)) {}

  T &operator()(int64_t i, int64_t j) { return data[static_cast<size_t>(i * columns + j)]; }
  const T &operator()(int64_t i, int64_t j) const { return data[static_cast<size_t>(i * columns + j)]; }
  T &operator[](int64_t i) { return data[static_cast<size_t>(i)]; }
  const T &operator[](int64_t i) const { return data[static_cast<size_t>(i)]; }
  T *row(int64_t i) { return data.data() + i * columns; }
  const T *row(int64_t i) const { return data.data() + i * columns; }

  static Matrix identity(int64_t size) {
    Matrix result(size, size);
    for (int64_t i = 0; i < size; ++i)
      result(i, i) = T(1);
    return result;
  }
};

template <typename T> Matrix<T> adjoint(const Matrix<T> &x) {
  Matrix<T> result(x.columns, x.rows);
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.columns; ++j)
      result(j, i) = conj(x(i, j));
  return result;
}

template <typename T> Matrix<T> multiply(const Matrix<T> &a, const Matrix<T> &b) {
  Matrix<T> result(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.columns; ++k) {
      const T factor = a(i, k);
      const T *from = b.row(k);
      T *to = result.row(i);
      for (int64_t j = 0; j < b.columns; ++j)
        to[j] += factor * from[j];
    }
  return result;
}

template <typename T> bool allFinite(const Matrix<T> &x) {
  for (const T &element : x.data)
    if (!isFinite(element))
      return false;
  return true;
}

/// A rotation that makes the Hermitian matrix [[a, c], [conj(c), b]] diagonal:
/// columns p, q become cosine p - sine conj(phase) q and sine p + cosine conj(phase) q.
template <typename T> struct Rotation {
  double cosine, sine;
  T phase;

  Rotation(double a, double b, T c) {
    const double size = std::abs(c);
    const double ratio = (b - a) / (2 * size);
    const double tangent = (ratio >= 0 ? 1.0 : -1.0) / (std::abs(ratio) + std::hypot(1.0, ratio));
    phase = conj(c / size);
    cosine = 1 / std::hypot(1.0, tangent);
    sine = tangent * cosine;
  }

  void apply(T &p, T &q) const {
    const T turned = phase * q, before = p;
    p = cosine * before - sine * turned;
    q = sine * before + cosine * turned;
  }
};

/// In place; pivots count from 1. Gives 0, or the number of the first zero on the diagonal.
template <typename T> int64_t factorLu(Matrix<T> &a, std::vector<int64_t> &pivots);
/// Solves A X = B, or Aᴴ X = B, in place of B.
template <typename T>
void solveLu(const Matrix<T> &lu, const std::vector<int64_t> &pivots, Matrix<T> &b, bool isAdjoint);

/// x = u diag(s) vhᴴ with min(rows, columns) singular values, descending; false where it does not converge.
template <typename T> struct Svd {
  Matrix<T> u, vh;
  std::vector<double> s;
};
template <typename T> bool computeSvd(const Matrix<T> &x, bool isFull, Svd<T> &result);

} // namespace ingot::linalg
