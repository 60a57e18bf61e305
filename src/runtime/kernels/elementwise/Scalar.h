// What every element-wise op means for one element: the only definition, used by the reference
// kernels, by generated loops (which inline it) and by the constant folder. PyTorch's CPU semantics.
//
// Functions carry the op's name and exist for bool, integers, float and double; types narrower than
// float are converted around them (lift). Code for float and integers has no branches where that is
// possible, so that loops vectorise. Integer arithmetic wraps, and a division by zero gives 0.
#pragma once

#include "runtime/kernels/elementwise/Float16.h"
#include "runtime/kernels/elementwise/Math32.h"

#include <cmath>
#include <complex>
#include <concepts>
#include <limits>
#include <type_traits>

#pragma float_control(push)
#pragma clang fp contract(off)
// A call left in a loop keeps it from being vectorised.
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)

// Functions carry the names of their ops.
// NOLINTBEGIN(readability-identifier-naming)
namespace ingot::scalar {

template <typename T>
concept Float = std::same_as<T, float> || std::same_as<T, double>;
template <typename T>
concept Integer = std::integral<T>; // with bool
template <typename T>
concept Real = Float<T> || Integer<T>;
template <typename T> inline constexpr bool isComplex = false;
template <typename T> inline constexpr bool isComplex<std::complex<T>> = true;
template <typename T>
concept Complex = isComplex<T>;

/// The unsigned type of the same width, in which overflow is defined; at least int wide, since
/// narrower operands would be promoted to a signed type anyway.
template <Integer T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t,
                                    std::make_unsigned_t<std::conditional_t<std::same_as<T, bool>, int, T>>>;

//===------------------------------------------------------------------------------------------===//
// Signs and rounding
//===------------------------------------------------------------------------------------------===//

template <Float T> T abs(T x) { return __builtin_elementwise_abs(x); }
template <Integer T> T abs(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return x;
  else
    return x < 0 ? static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x)) : x;
}

template <Float T> T neg(T x) { return -x; }
template <Integer T> T neg(T x) { return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x)); }
template <Complex T> T neg(T x) { return -x; }

template <Real T> T sign(T x) { return static_cast<T>((x > T(0)) - (x < T(0))); }

template <Float T> T floor(T x) { return __builtin_elementwise_floor(x); }
template <Float T> T ceil(T x) { return __builtin_elementwise_ceil(x); }
template <Float T> T round(T x) { return __builtin_elementwise_roundeven(x); }
template <Float T> T trunc(T x) { return __builtin_elementwise_trunc(x); }
template <Integer T> T floor(T x) { return x; }
template <Integer T> T ceil(T x) { return x; }
template <Integer T> T round(T x) { return x; }
template <Integer T> T trunc(T x) { return x; }

//===------------------------------------------------------------------------------------------===//
// Elementary functions. Those of float that models use much are in Math32.h.
//===------------------------------------------------------------------------------------------===//

inline float exp(float x) { return math::exp(x); }
inline float exp2(float x) { return math::exp2(x); }
inline float expm1(float x) { return math::expm1(x); }
inline float log(float x) { return math::log(x); }
inline float log2(float x) { return math::log2(x); }
inline float log10(float x) { return math::log10(x); }
inline float log1p(float x) { return math::log1p(x); }
inline float sin(float x) { return math::sin(x); }
inline float cos(float x) { return math::cos(x); }
inline float tanh(float x) { return math::tanh(x); }
inline float erf(float x) { return math::erf(x); }

inline double exp(double x) { return std::exp(x); }
inline double exp2(double x) { return std::exp2(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double log(double x) { return std::log(x); }
inline double log2(double x) { return std::log2(x); }
inline double log10(double x) { return std::log10(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }

template <Float T> T sqrt(T x) { return __builtin_elementwise_sqrt(x); }
template <Float T> T rsqrt(T x) { return T(1) / __builtin_elementwise_sqrt(x); }
template <Float T> T reciprocal(T x) { return T(1) / x; }
template <Float T> T tan(T x) { return std::tan(x); }
template <Float T> T asin(T x) { return std::asin(x); }
template <Float T> T acos(T x) { return std::acos(x); }
template <Float T> T atan(T x) { return std::atan(x); }
template <Float T> T sinh(T x) { return std::sinh(x); }
template <Float T> T cosh(T x) { return std::cosh(x); }
template <Float T> T asinh(T x) { return std::asinh(x); }
template <Float T> T acosh(T x) { return std::acosh(x); }
template <Float T> T atanh(T x) { return std::atanh(x); }
template <Float T> T erfc(T x) { return std::erfc(x); }
template <Float T> T atan2(T a, T b) { return std::atan2(a, b); }

//===------------------------------------------------------------------------------------------===//
// Activations
//===------------------------------------------------------------------------------------------===//

template <Real T> T relu(T x) { return x < T(0) ? T(0) : x; }
template <Float T> T sigmoid(T x) { return T(1) / (T(1) + exp(-x)); }
template <Float T> T silu(T x) { return x / (T(1) + exp(-x)); }
template <Float T> T gelu(T x) {
  const T value = T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752440)));
  if constexpr (std::same_as<T, float>) // PyTorch's loop over floats gives NaN for infinity
    return x == std::numeric_limits<T>::infinity() ? std::numeric_limits<T>::quiet_NaN() : value;
  else
    return value;
}
template <Float T> T gelu_tanh(T x) {
  const T inner = T(0.79788456080286535588) * (x + T(0.044715) * (x * x * x));
  return T(0.5) * x * (T(1) + tanh(inner));
}

/// min(max(x, low), high), where NaN stays.
template <Float T> T clampTo(T x, T low, T high) {
  const T atLeast = x < low ? low : x;
  return atLeast > high ? high : atLeast;
}

template <Float T> T hard_swish(T x) { return x * clampTo(x + T(3), T(0), T(6)) / T(6); }
template <Float T> T hard_sigmoid(T x) { return clampTo(x + T(3), T(0), T(6)) / T(6); }
template <Float T> T mish(T x) {
  // tanh(log(1 + e)) = (e² + 2e) / (e² + 2e + 2), which is 1 long before e² overflows.
  const T e = exp(x > T(30) ? T(30) : x);
  const T n = e * (e + T(2));
  return x * (n / (n + T(2)));
}

//===------------------------------------------------------------------------------------------===//
// Tests and comparisons
//===------------------------------------------------------------------------------------------===//

template <typename T> bool logical_not(T x) { return x == T(0); }
template <Real T> bool isnan(T x) { return x != x; }
template <Integer T> bool isinf(T) { return false; }
template <Float T> bool isinf(T x) { return __builtin_elementwise_abs(x) == std::numeric_limits<T>::infinity(); }
template <Complex T> bool isnan(T x) { return isnan(x.real()) || isnan(x.imag()); }
template <Complex T> bool isinf(T x) { return isinf(x.real()) || isinf(x.imag()); }

template <typename T> bool eq(T a, T b) { return a == b; }
template <typename T> bool ne(T a, T b) { return a != b; }
template <Real T> bool lt(T a, T b) { return a < b; }
template <Real T> bool le(T a, T b) { return a <= b; }
template <Real T> bool gt(T a, T b) { return a > b; }
template <Real T> bool ge(T a, T b) { return a >= b; }

//===------------------------------------------------------------------------------------------===//
// Arithmetic
//===------------------------------------------------------------------------------------------===//

template <Float T> T add(T a, T b) { return a + b; }
template <Float T> T sub(T a, T b) { return a - b; }
template <Float T> T mul(T a, T b) { return a * b; }
template <Float T> T div(T a, T b) { return a / b; }

template <Integer T> T add(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <Integer T> T sub(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <Integer T> T mul(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

template <Complex T> T add(T a, T b) { return {a.real() + b.real(), a.imag() + b.imag()}; }
template <Complex T> T sub(T a, T b) { return {a.real() - b.real(), a.imag() - b.imag()}; }
template <Complex T> T mul(T a, T b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Divides by the larger component first, as PyTorch does, so that squares do not overflow.
template <Complex T> T div(T a, T b) {
  using R = typename T::value_type;
  const R c = b.real(), d = b.imag();
  if (abs(c) >= abs(d)) {
    if (c == R(0) && d == R(0))
      return {a.real() / abs(c), a.imag() / abs(d)};
    const R ratio = d / c, factor = R(1) / (c + d * ratio);
    return {(a.real() + a.imag() * ratio) * factor, (a.imag() - a.real() * ratio) * factor};
  }
  const R ratio = c / d, factor = R(1) / (c * ratio + d);
  return {(a.real() * ratio + a.imag()) * factor, (a.imag() * ratio - a.real()) * factor};
}
template <Complex T> T reciprocal(T x) { return div(T(1), x); }

/// Whether a / b would trap: by zero, or the smallest integer by -1 (which wraps to itself).
template <Integer T> bool dividesByZero(T b) { return b == T(0); }
template <Integer T> bool overflowsDivision(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return a == std::numeric_limits<T>::min() && b == T(-1);
  else
    return false;
}

template <Float T> T div_trunc(T a, T b) { return trunc(a / b); }
template <Integer T> T div_trunc(T a, T b) {
  const bool traps = dividesByZero(b) || overflowsDivision(a, b);
  const T quotient = static_cast<T>(a / (traps ? T(1) : b));
  return dividesByZero(b) ? T(0) : quotient;
}

template <Float T> T fmod(T a, T b) { return std::fmod(a, b); }
template <Integer T> T fmod(T a, T b) {
  const bool traps = dividesByZero(b) || overflowsDivision(a, b);
  return static_cast<T>(a % (traps ? T(1) : b)); // a % 1 == 0
}

template <Real T> T remainder(T a, T b) {
  const T r = fmod(a, b);
  return r != T(0) && (b < T(0)) != (r < T(0)) ? add(r, b) : r;
}

template <Integer T> T div_floor(T a, T b) {
  const T quotient = div_trunc(a, b);
  const T r = fmod(a, b);
  return r != T(0) && (b < T(0)) != (r < T(0)) ? sub(quotient, T(1)) : quotient;
}

/// Python's // for floats: exact where a / b would round up to the next integer.
template <Float T> T div_floor(T a, T b) {
  const T r = fmod(a, b);
  T quotient = (a - r) / b;
  quotient = r != T(0) && (b < T(0)) != (r < T(0)) ? quotient - T(1) : quotient;
  const T down = floor(quotient);
  const T nearest = quotient - down > T(0.5) ? down + T(1) : down;
  const T signedZero = a / b < T(0) || (a / b == T(0) && std::signbit(a / b)) ? -T(0) : T(0);
  const T result = quotient != T(0) ? nearest : signedZero;
  return b == T(0) ? a / b : result;
}

inline float pow(float a, float b) { return math::pow(a, b); }
inline double pow(double a, double b) { return std::pow(a, b); }
template <Integer T> T pow(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b < 0) {
      const T odd = static_cast<T>(b & 1);
      return a == T(1) ? T(1) : a == T(-1) ? static_cast<T>(odd ? -1 : 1) : T(0);
    }
  T result = T(1);
  for (auto n = static_cast<Wrapping<T>>(b); n != 0; n >>= 1) {
    if (n & 1)
      result = mul(result, a);
    a = mul(a, a);
  }
  return result;
}

// Where both are equal (0 and -0) the first one is the result.
template <Real T> T maximum(T a, T b) { return a >= b || a != a ? a : b; }
template <Real T> T minimum(T a, T b) { return a <= b || a != a ? a : b; }
template <Real T> T fmax(T a, T b) { return b > a || a != a ? b : a; }
template <Real T> T fmin(T a, T b) { return b < a || a != a ? b : a; }

template <Integer T> T bitwise_and(T a, T b) { return static_cast<T>(a & b); }
template <Integer T> T bitwise_or(T a, T b) { return static_cast<T>(a | b); }
template <Integer T> T bitwise_xor(T a, T b) { return static_cast<T>(a ^ b); }
template <Integer T> T bitwise_not(T x) {
  if constexpr (std::same_as<T, bool>)
    return !x;
  else
    return static_cast<T>(~x);
}

template <typename T> T select(bool condition, T a, T b) { return condition ? a : b; }

//===------------------------------------------------------------------------------------------===//
// Conversions
//===------------------------------------------------------------------------------------------===//

/// What x86 instructions give: INT_MIN for everything that does not fit. A plain conversion of such
/// values would be undefined, and so poison in generated loops.
template <typename To, Float From> To truncateTo(From x) {
  constexpr From limit = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From(2);
  const bool fits = x >= -limit && x < limit;
  const To value = static_cast<To>(fits ? x : From(0));
  return fits ? value : std::numeric_limits<To>::min();
}

template <Integer To, Float From> To floatToInteger(From x) {
  if constexpr (std::same_as<To, bool>) {
    return x != From(0);
  } else if constexpr (std::same_as<To, uint64_t>) {
    const bool isUpper = x >= From(0x1.0p63);
    const auto value = static_cast<uint64_t>(truncateTo<int64_t>(isUpper ? x - From(0x1.0p63) : x));
    return isUpper ? value ^ (uint64_t(1) << 63) : value;
  } else if constexpr (sizeof(To) == 8 || std::same_as<To, uint32_t>) {
    return static_cast<To>(truncateTo<int64_t>(x));
  } else {
    return static_cast<To>(truncateTo<int32_t>(x));
  }
}

template <typename To, typename From> To cast(From x) {
  if constexpr (std::same_as<To, From>)
    return x;
  else if constexpr (isSmallFloat<From>)
    return cast<To>(static_cast<float>(x));
  else if constexpr (isSmallFloat<To>)
    return To(cast<float>(x));
  else if constexpr (isComplex<From> && isComplex<To>)
    return To(static_cast<typename To::value_type>(x.real()), static_cast<typename To::value_type>(x.imag()));
  else if constexpr (isComplex<From> && std::same_as<To, bool>)
    return x != From(0);
  else if constexpr (isComplex<From>)
    return cast<To>(x.real());
  else if constexpr (isComplex<To>)
    return To(cast<typename To::value_type>(x));
  else if constexpr (Float<From> && Integer<To>)
    return floatToInteger<To>(x);
  else if constexpr (std::same_as<To, bool>)
    return x != From(0);
  else
    return static_cast<To>(x);
}

/// The type in which an op on T is computed.
template <typename T> using Compute = std::conditional_t<isSmallFloat<T>, float, T>;

/// Applies `f`, which is defined on Compute<T>, to Ts; the result is rounded back to T unless it is a bool.
template <typename T, typename F, typename... Rest> auto lift(F f, T first, Rest... rest) {
  using C = Compute<T>;
  auto result = f(cast<C>(first), cast<C>(rest)...);
  if constexpr (std::same_as<decltype(result), bool> && !std::same_as<T, bool>)
    return result;
  else
    return cast<T>(result);
}

// The ops that the list defines by one expression.
#define SCALAR_UNARY_AS(name, kinds, ...)                                                                              \
  template <typename T> T name(T x) { return __VA_ARGS__; }
#define SCALAR_BINARY_AS(name, kinds, ...)                                                                             \
  template <typename T> T name(T a, T b) { return __VA_ARGS__; }
#include "runtime/kernels/elementwise/scalar_ops.inc"

} // namespace ingot::scalar
// NOLINTEND(readability-identifier-naming)

#pragma clang attribute pop
#pragma float_control(pop)
