// The error function's relatives, in double.
#include "runtime/kernels/special/Special.h"

namespace ingot::special {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Where erf is 1 - q, for 0 < q <= 1; Winitzki's formula, right to some thousandths.
double roughInverse(double q) {
  constexpr double kA = 0.147;
  const double logarithm = std::log(q * (2 - q));
  const double t = 2 / (std::numbers::pi * kA) + logarithm / 2;
  return std::sqrt(std::sqrt(t * t - logarithm / kA) - t);
}

double densityOf(double y) { return 2 * std::numbers::inv_sqrtpi * std::exp(-y * y); }

/// The y >= 0 with erfc(y) == q, for 0 < q <= 1.
double upperInverse(double q) {
  double y = roughInverse(q);
  for (int i = 0; i < 8; ++i) {
    double step;
    if (q < 0.1) { // Newton's method for the logarithms, which are nearly straight there
      const double value = std::erfc(y);
      step = -(std::log(value) - std::log(q)) * value / densityOf(y);
    } else { // Halley's
      const double error = (std::erfc(y) - q) / -densityOf(y);
      step = error / (1 + y * error);
    }
    y -= step;
    if (std::abs(step) <= 1e-16 * std::abs(y))
      break;
  }
  return y;
}

} // namespace

double erfinv(double x) {
  if (!(std::abs(x) <= 1))
    return kNan;
  if (std::abs(x) == 1)
    return std::copysign(kInfinity, x);
  if (std::abs(x) >= 0.5)
    return std::copysign(upperInverse(1 - std::abs(x)), x);
  double y = std::copysign(roughInverse(1 - std::abs(x)), x);
  if (std::abs(x) < 1e-3) // where the formula loses digits, the first terms of the series are enough to start
    y = x * (1 + std::numbers::pi / 12 * x * x) / (2 * std::numbers::inv_sqrtpi);
  for (int i = 0; i < 3; ++i) {
    const double error = (std::erf(y) - x) / densityOf(y);
    y -= error / (1 + y * error);
  }
  return y;
}

/// exp(x * x) * erfc(x)
double erfcx(double x) {
  if (x > 25) { // the asymptotic series
    const double z = 1 / (2 * x * x);
    const double series = 1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z * (1 - 9 * z))));
    return std::numbers::inv_sqrtpi / x * series;
  }
  if (x < -26.7)
    return kInfinity;
  // The square in two parts: exp would magnify the rounding of a single one.
  const double high = x * x, low = std::fma(x, x, -high);
  const double power = std::exp(high);
  if (std::isinf(power))
    return kInfinity;
  return (power + power * low) * std::erfc(x);
}

double log_ndtr(double x) {
  const double t = x * (std::numbers::sqrt2 / 2);
  if (x < -1)
    return std::log(erfcx(-t) / 2) - t * t;
  return std::log1p(-std::erfc(t) / 2);
}

double ndtri(double p) {
  if (p == 0)
    return -kInfinity;
  if (p == 1)
    return kInfinity;
  if (!(p > 0 && p < 1))
    return kNan;
  const double y = std::abs(p - 0.5) < 0.25 ? erfinv(2 * p - 1)
                   : p < 0.5                ? -upperInverse(2 * p)
                                            : upperInverse(2 * (1 - p));
  return std::numbers::sqrt2 * y;
}

} // namespace ingot::special
