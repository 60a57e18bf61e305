// Elementary functions of complex numbers under the names of scalar_ops.inc. The reference kernels alone use them.
#pragma once

#include "runtime/kernels/elementwise/Scalar.h"

#include <numbers>

namespace ingot::scalar {

template <Complex T> T exp(T x) { return std::exp(x); }
template <Complex T> T exp2(T x) { return std::exp(std::numbers::ln2_v<typename T::value_type> * x); }
template <Complex T> T log(T x) { return std::log(x); }
template <Complex T> T log2(T x) { return std::log(x) / std::numbers::ln2_v<typename T::value_type>; }
template <Complex T> T log10(T x) { return std::log10(x); }
template <Complex T> T sqrt(T x) { return std::sqrt(x); }
template <Complex T> T rsqrt(T x) { return reciprocal(std::sqrt(x)); }
template <Complex T> T sin(T x) { return std::sin(x); }
template <Complex T> T cos(T x) { return std::cos(x); }
template <Complex T> T tan(T x) { return std::tan(x); }
template <Complex T> T asin(T x) { return std::asin(x); }
template <Complex T> T acos(T x) { return std::acos(x); }
template <Complex T> T atan(T x) { return std::atan(x); }
template <Complex T> T sinh(T x) { return std::sinh(x); }
template <Complex T> T cosh(T x) { return std::cosh(x); }
template <Complex T> T tanh(T x) { return std::tanh(x); }
template <Complex T> T asinh(T x) { return std::asinh(x); }
template <Complex T> T acosh(T x) { return std::acosh(x); }
template <Complex T> T atanh(T x) { return std::atanh(x); }
template <Complex T> T pow(T a, T b) { return std::pow(a, b); }
template <Complex T> T sigmoid(T x) { return reciprocal(T(1) + std::exp(-x)); }
template <Complex T> T silu(T x) { return div(x, T(1) + std::exp(-x)); }

/// exp(x) - 1, where the cosine of a small angle would cancel.
template <Complex T> T expm1(T x) {
  using R = typename T::value_type;
  const R half = std::sin(x.imag() / R(2));
  return {std::expm1(x.real()) * std::cos(x.imag()) - R(2) * half * half, std::exp(x.real()) * std::sin(x.imag())};
}

/// log(1 + x), where 1 + x would lose a small x.
template <Complex T> T log1p(T x) {
  using R = typename T::value_type;
  const R angle = std::atan2(x.imag(), R(1) + x.real());
  const R size = std::abs(x.real()) < R(0.5) && std::abs(x.imag()) < R(0.5)
                     ? R(0.5) * std::log1p(x.real() * (R(2) + x.real()) + x.imag() * x.imag())
                     : std::log(std::hypot(R(1) + x.real(), x.imag()));
  return {size, angle};
}

} // namespace ingot::scalar
