// Orthogonal polynomials of degree n at x. Computed in T, as PyTorch does: for high degrees the rounding shows.
// Products and sums are fused where PyTorch's compiler fuses them.
#pragma once

#include "runtime/kernels/elementwise/Scalar.h"

#include <limits>

namespace ingot::scalar {

namespace polynomial {

/// Degrees beyond this would take too long to be meant.
inline constexpr int64_t kMaxDegree = int64_t(1) << 30;

template <Float T> int64_t degree(T n) {
  return n < T(kMaxDegree) ? static_cast<int64_t>(n) : n != n ? -1 : kMaxDegree;
}
inline bool isEven(int64_t n) { return n % 2 == 0; }

/// p(0) = 1, p(1) = first, p(k + 1) = 2 * x * p(k) - p(k - 1): every kind of Chebyshev polynomial.
template <Float T> T chebyshev(T x, T first, int64_t n) {
  if (n == 0)
    return T(1);
  T before = T(1), now = first;
  for (int64_t k = 2; k <= n && now == now; ++k) {
    const T next = std::fma(x + x, now, -before);
    before = now;
    now = next;
  }
  return now;
}

} // namespace polynomial

template <Float T> T chebyshev_t(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (std::abs(x) == T(1))
    return x > 0 || polynomial::isEven(n) ? T(1) : T(-1);
  if (n > 6 && std::abs(x) < T(1))
    return std::cos(static_cast<T>(n) * std::acos(x));
  return polynomial::chebyshev(x, x, n);
}

template <Float T> T chebyshev_u(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (std::abs(x) == T(1))
    return static_cast<T>(x > 0 || polynomial::isEven(n) ? n + 1 : -(n + 1));
  if (n > 8 && std::abs(x) < T(1)) {
    const T angle = std::acos(x), sine = std::sin(angle);
    if (sine != T(0))
      return std::sin(static_cast<T>(n + 1) * angle) / sine;
    return static_cast<T>(n + 1) * std::cos(static_cast<T>(n + 1) * angle) / x;
  }
  return polynomial::chebyshev(x, x + x, n);
}

template <Float T> T chebyshev_v(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (std::abs(x) == T(1))
    return x > 0 ? T(1) : static_cast<T>(polynomial::isEven(n) ? n + n + 1 : -(n + n + 1));
  if (n > 8 && std::abs(x) < T(1)) {
    const T angle = std::acos(x);
    if (std::sin(angle / T(2)) != T(1))
      return std::cos((static_cast<T>(n) + T(0.5)) * angle) / std::cos(angle / T(2));
    return static_cast<T>(polynomial::isEven(n) ? n + n + 1 : -(n + n + 1));
  }
  return polynomial::chebyshev(x, x + x - T(1), n);
}

template <Float T> T chebyshev_w(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (std::abs(x) == T(1))
    return x > 0 ? static_cast<T>(n + n + 1) : polynomial::isEven(n) ? T(1) : T(-1);
  if (n > 8 && std::abs(x) < T(1)) {
    const T angle = std::acos(x);
    if (std::cos(angle / T(2)) != T(1))
      return std::sin((static_cast<T>(n) + T(0.5)) * angle) / std::sin(angle / T(2));
    return x > 0 ? static_cast<T>(n + n + 1) : polynomial::isEven(n) ? T(1) : T(-1);
  }
  return polynomial::chebyshev(x, x + x + T(1), n);
}

// Shifted from [-1, 1] to [0, 1].

template <Float T> T shifted_chebyshev_t(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (x == T(1))
    return T(1);
  if (x == T(0))
    return polynomial::isEven(n) ? T(1) : T(-1);
  const T y = x + x - T(1);
  if (n > 6 && std::abs(y) < T(1))
    return std::cos(static_cast<T>(n) * std::acos(y));
  return polynomial::chebyshev(y, y, n);
}

template <Float T> T shifted_chebyshev_u(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (x == T(1))
    return static_cast<T>(n + 1);
  if (x == T(0))
    return static_cast<T>(polynomial::isEven(n) ? n + 1 : -(n + 1));
  const T y = x + x - T(1);
  if (n > 6 && std::abs(y) < T(1)) {
    const T angle = std::acos(y), sine = std::sin(angle);
    if (sine != T(0))
      return std::sin(static_cast<T>(n + 1) * angle) / sine;
    return static_cast<T>(n + 1) * std::cos(static_cast<T>(n + 1) * angle) / y;
  }
  return polynomial::chebyshev(y, y + y, n);
}

template <Float T> T shifted_chebyshev_v(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (x == T(1))
    return T(1);
  if (x == T(0))
    return static_cast<T>(polynomial::isEven(n) ? n + n + 1 : -(n + n + 1));
  const T y = x + x - T(1);
  if (n > 6 && std::abs(y) < T(1)) {
    const T angle = std::acos(y);
    if (std::sin(angle / T(2)) != T(1))
      return std::cos((static_cast<T>(n) + T(0.5)) * angle) / std::cos(angle / T(2));
    return static_cast<T>(polynomial::isEven(n) ? n + n + 1 : -(n + n + 1));
  }
  return polynomial::chebyshev(y, y + y - T(1), n);
}

template <Float T> T shifted_chebyshev_w(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (x == T(1))
    return static_cast<T>(n + n + 1);
  if (x == T(0))
    return polynomial::isEven(n) ? T(1) : T(-1);
  const T y = x + x - T(1);
  if (n > 4 && std::abs(y) < T(1)) {
    const T angle = std::acos(y);
    if (std::cos(angle / T(2)) != T(1))
      return std::sin((static_cast<T>(n) + T(0.5)) * angle) / std::sin(angle / T(2));
    return polynomial::isEven(n) ? T(1) : T(-1);
  }
  return polynomial::chebyshev(y, y + y + T(1), n);
}

/// Degrees of Hermite polynomials that do not overflow everywhere.
template <Float T> inline constexpr int64_t kMaxHermite = std::same_as<T, float> ? 128 : 512;

template <Float T> T hermite_h(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (n > kMaxHermite<T>)
    return std::numeric_limits<T>::quiet_NaN();
  T before = T(0), now = T(1);
  for (int64_t k = 0; k < n && now == now; ++k) {
    const T next = k == 0 ? x + x : std::fma(x + x, now, -(static_cast<T>(2 * k) * before));
    before = now;
    now = next;
  }
  return now;
}

template <Float T> T hermite_he(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (n > kMaxHermite<T>)
    return std::numeric_limits<T>::quiet_NaN();
  T before = T(0), now = T(1);
  for (int64_t k = 0; k < n && now == now; ++k) {
    const T next = k == 0 ? x : std::fma(x, now, -(static_cast<T>(k) * before));
    before = now;
    now = next;
  }
  return now;
}

template <Float T> T laguerre_l(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (n == 0 || x == T(0))
    return T(1);
  T before = T(1), now = T(1) - x;
  for (int64_t k = 1; k < n && now == now; ++k) {
    const T factor = static_cast<T>(k + k) + (T(1) - x);
    const T next = std::fma(factor, now, -(static_cast<T>(k) * before)) / static_cast<T>(k + 1);
    before = now;
    now = next;
  }
  return now;
}

template <Float T> T legendre_p(T x, T degree) {
  const int64_t n = polynomial::degree(degree);
  if (n < 0)
    return T(0);
  if (std::abs(x) == T(1))
    return x > 0 || polynomial::isEven(n) ? T(1) : T(-1);
  if (n == 0)
    return T(1);
  T before = T(1), now = x;
  for (int64_t k = 1; k < n && now == now; ++k) {
    const T factor = static_cast<T>(k + k + 1) * x;
    const T next = std::fma(factor, now, -(static_cast<T>(k) * before)) / static_cast<T>(k + 1);
    before = now;
    now = next;
  }
  return now;
}

} // namespace ingot::scalar
