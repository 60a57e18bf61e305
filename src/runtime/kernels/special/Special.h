// What the functions of special_ops.inc mean for one element. float is computed in double and rounded once, except
// where PyTorch's float arithmetic can be seen in the result.
#pragma once

#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/special/Polynomials.h"

#include <numbers>
#include <utility>

namespace ingot::special {

// Gamma.cpp
double lgamma(double x);
double digamma(double x);
/// The Hurwitz zeta function: the sum of (q + k)^-s.
double zeta(double s, double q);
double igamma(double a, double x);
double igammac(double a, double x);

// Error.cpp
double erfinv(double x);
double erfcx(double x);
double log_ndtr(double x);
double ndtri(double p);

// Bessel.cpp
double i0e(double x);
double i1e(double x);
double bessel_j0(double x);
double bessel_j1(double x);
double bessel_y0(double x);
double bessel_y1(double x);
double bessel_k0(double x);
double bessel_k1(double x);
double bessel_k0e(double x);
double bessel_k1e(double x);
double airy_ai(double x);
double spherical_bessel_j0(double x);

} // namespace ingot::special

namespace ingot::scalar {

#define INGOT_IN_DOUBLE(name)                                                                                          \
  template <Float T> T name(T x) { return static_cast<T>(special::name(x)); }
INGOT_IN_DOUBLE(lgamma)
INGOT_IN_DOUBLE(digamma)
INGOT_IN_DOUBLE(erfinv)
INGOT_IN_DOUBLE(log_ndtr)
INGOT_IN_DOUBLE(ndtri)
INGOT_IN_DOUBLE(i0e)
INGOT_IN_DOUBLE(i1e)
INGOT_IN_DOUBLE(bessel_j0)
INGOT_IN_DOUBLE(bessel_j1)
INGOT_IN_DOUBLE(bessel_y0)
INGOT_IN_DOUBLE(bessel_y1)
INGOT_IN_DOUBLE(bessel_k0)
INGOT_IN_DOUBLE(bessel_k1)
INGOT_IN_DOUBLE(bessel_k0e)
INGOT_IN_DOUBLE(bessel_k1e)
INGOT_IN_DOUBLE(airy_ai)
INGOT_IN_DOUBLE(spherical_bessel_j0)
#undef INGOT_IN_DOUBLE

// The power and the square are of type T, as in PyTorch, where they overflow and round.
template <Float T> T i0(T x) { return std::exp(abs(x)) * i0e(x); }
template <Float T> T i1(T x) { return std::exp(abs(x)) * i1e(x); }
template <Float T> T erfcx(T x) {
  const T square = x * x;
  if (std::same_as<T, float> && x < 0)
    return static_cast<T>(2 * std::exp(static_cast<double>(square)) - special::erfcx(-x));
  return static_cast<T>(special::erfcx(x));
}

template <Float T> T zeta(T s, T q) { return static_cast<T>(special::zeta(s, q)); }
template <Float T> T igamma(T a, T x) { return static_cast<T>(special::igamma(a, x)); }
template <Float T> T igammac(T a, T x) { return static_cast<T>(special::igammac(a, x)); }

template <Float T> T entr(T x) {
  if (x != x)
    return x;
  return x > 0 ? -x * std::log(x) : x == 0 ? T(0) : -std::numeric_limits<T>::infinity();
}

template <Float T> T sinc(T x) {
  const T y = std::numbers::pi_v<T> * x;
  return x == T(0) ? T(1) : std::sin(y) / y;
}
template <Complex T> T sinc(T x) {
  const T y = std::numbers::pi_v<typename T::value_type> * x;
  return x == T(0) ? T(1) : div(std::sin(y), y);
}

/// In T, since sin(pi * x) of a float shows at negative integers.
template <Float T> T trigamma(T x) {
  T sign = 1, result = 0;
  if (x < T(0.5)) {
    sign = -1;
    const T sine = std::sin(std::numbers::pi_v<T> * x);
    result -= std::numbers::pi_v<T> * std::numbers::pi_v<T> / (sine * sine);
    x = 1 - x;
  }
  for (int i = 0; i < 6; ++i, x += 1)
    result += 1 / (x * x);
  const T r = 1 / (x * x);
  result += (1 + 1 / (2 * x) + r * (T(1) / 6 - r * (T(1) / 30 - r * (T(1) / 42)))) / x;
  return sign * result;
}

/// The n-th derivative of digamma.
template <Float T> T polygamma(T n, T x) {
  if (n == 0)
    return digamma(x);
  if (n == 1)
    return trigamma(x);
  const bool isOdd = std::fmod(n, T(2)) != 0;
  return (isOdd ? T(1) : T(-1)) * static_cast<T>(std::exp(special::lgamma(n + 1.0)) * special::zeta(n + 1.0, x));
}

template <Float T> T xlogy(T x, T y) { return y != y ? y : x == T(0) ? T(0) : x * std::log(y); }
template <Float T> T xlog1py(T x, T y) { return y != y ? y : x == T(0) ? T(0) : x * std::log1p(y); }

template <Float T> T logaddexp(T a, T b) {
  if (std::isinf(a) && a == b)
    return a;
  return std::fmax(a, b) + std::log1p(std::exp(-std::abs(a - b))) + (a != a || b != b ? a + b : T(0));
}
template <Float T> T logaddexp2(T a, T b) {
  if (std::isinf(a) && a == b)
    return a;
  // Eager rounds once, and gives no 0 for -1 and -1.
  const T rest = std::log1p(std::exp2(-std::abs(a - b)));
  const T sum = std::fma(rest, static_cast<T>(1 / std::numbers::ln2), std::fmax(a, b));
  return sum + (a != a || b != b ? a + b : T(0));
}

/// From the one with the larger real part.
template <Complex T> T logaddexp(T a, T b) {
  using R = typename T::value_type;
  if (isnan(a) || isnan(b))
    return {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::quiet_NaN()};
  const T high = a.real() >= b.real() ? a : b, low = a.real() >= b.real() ? b : a;
  if (std::isinf(high.real()) && high.real() < 0)
    return high; // nothing is added to nothing
  return high + std::log(T(1) + std::exp(low - high));
}

template <Float T> T copysign(T a, T b) { return std::copysign(a, b); }
template <Float T> T frexp_mantissa(T x) {
  int exponent = 0;
  return std::frexp(x, &exponent);
}
template <Float T> int32_t frexp_exponent(T x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::isfinite(x) ? exponent : 0;
}
template <Float T> T conj(T x) { return x; }
template <Complex T> T conj(T x) { return {x.real(), -x.imag()}; }

template <Float T> bool signbit(T x) { return std::signbit(x); }
template <Integer T> bool signbit(T x) {
  if constexpr (std::is_signed_v<T>)
    return x < 0;
  else
    return false;
}

template <Real T> T heaviside(T a, T b) { return a == T(0) ? b : static_cast<T>(a > T(0)); }

template <Integer T> T gcd(T a, T b) {
  if constexpr (std::same_as<T, bool>) {
    return a || b;
  } else {
    a = abs(a);
    b = abs(b);
    while (a != 0) {
      const T rest = overflowsDivision(b, a) ? T(0) : static_cast<T>(b % a);
      b = std::exchange(a, rest);
    }
    return b;
  }
}
template <Integer T> T lcm(T a, T b) {
  const T g = gcd(a, b);
  // As eager's C++ does, the magnitude of short numbers is taken before they wrap.
  if constexpr (sizeof(T) < sizeof(int))
    return g == T(0) ? T(0) : static_cast<T>(std::abs(a / g * b));
  return g == T(0) ? T(0) : abs(mul(div_trunc(a, g), b));
}

template <Integer T> T shift_left(T a, T b) {
  const bool isOut = b < T(0) || static_cast<uint64_t>(b) >= sizeof(T) * 8;
  return isOut ? T(0) : static_cast<T>(static_cast<Wrapping<T>>(a) << static_cast<unsigned>(b));
}
template <Integer T> T shift_right(T a, T b) {
  constexpr unsigned kBits = sizeof(T) * 8;
  const bool isOut = b < T(0) || static_cast<uint64_t>(b) >= kBits;
  if constexpr (std::is_unsigned_v<T>)
    return isOut ? T(0) : static_cast<T>(a >> static_cast<unsigned>(b));
  else
    return static_cast<T>(a >> (isOut ? kBits - 1 : static_cast<unsigned>(b)));
}

} // namespace ingot::scalar
