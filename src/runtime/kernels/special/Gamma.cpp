// The gamma function's relatives, in double.
#include "runtime/kernels/special/Special.h"

#include <array>
#include <math.h> // lgamma_r: std::lgamma writes to a global variable

namespace ingot::special {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// digamma for x >= 10 by its asymptotic series, whose coefficients are B(2k) / 2k.
double digammaOfLarge(double x) {
  const double z = 1 / (x * x);
  const double tail =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return std::log(x) - 0.5 / x - tail;
}

} // namespace

double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double digamma(double x) {
  if (x == 0)
    return std::copysign(kInfinity, -x);
  if (x < 0) {
    double whole = 0;
    const double fraction = std::modf(x, &whole);
    if (fraction == 0)
      return kNan;
    return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * fraction);
  }
  double shift = 0;
  for (; x < 10; x += 1)
    shift += 1 / x;
  return digammaOfLarge(x) - shift;
}

/// Euler–Maclaurin: the first terms one by one, an integral and its corrections for the rest.
double zeta(double s, double q) {
  if (s == 1)
    return kInfinity;
  if (!(s > 1))
    return kNan;
  if (q <= 0) {
    if (q == std::floor(q))
      return kInfinity;
    if (s != std::floor(s))
      return kNan; // a power of a negative number
  }
  // (2k)! / B(2k)
  constexpr std::array<double, 12> kFactors = {12.0,
                                               -720.0,
                                               30240.0,
                                               -1209600.0,
                                               47900160.0,
                                               -1.8924375803183791606e9,
                                               7.47242496e10,
                                               -2.950130727918164224e12,
                                               1.1646782814350067249e14,
                                               -4.5979787224074726105e15,
                                               1.8152105401943546773e17,
                                               -7.1661652561756670113e18};
  double a = q, sum = std::pow(q, -s), term = 0;
  if (q < -1e6)
    return kNan; // would take forever; PyTorch does
  for (int i = 0; i < 9 || a <= 9; ++i) {
    a += 1;
    term = std::pow(a, -s);
    sum += term;
    if (std::abs(term) < kEpsilon / 2 * std::abs(sum))
      return sum;
  }
  sum += term * a / (s - 1) - 0.5 * term;
  double factor = 1;
  for (size_t i = 0; i < kFactors.size(); ++i) {
    const double k = 2 * static_cast<double>(i);
    factor *= s + k;
    term /= a;
    const double correction = factor * term / kFactors[i];
    sum += correction;
    if (std::abs(correction) < kEpsilon / 2 * std::abs(sum))
      return sum;
    factor *= s + k + 1;
    term /= a;
  }
  return sum;
}

namespace {

/// x^a * exp(-x) / gamma(a + 1)
double gammaDensity(double a, double x) {
  if (a < 10)
    return std::exp(a * std::log(x) - x - lgamma(a + 1));
  // Stirling's formula, with the large parts taken together before they cancel.
  const long double t = (static_cast<long double>(x) - a) / a;
  const long double exponent = a * (std::log1p(t) - t);
  const double z = 1 / (a * a);
  const double correction = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z / 1680))) / a;
  return static_cast<double>(std::exp(exponent - correction)) / std::sqrt(2 * std::numbers::pi * a);
}

// Both converge in about sqrt(a) steps where x is near a.
constexpr int kMaxSteps = 1 << 20;

/// The lower function by its power series; for x < a + 1.
double lowerSeries(double a, double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < kMaxSteps; ++k) {
    term *= x / (a + k);
    sum += term;
    if (term < kEpsilon / 4 * sum)
      break;
  }
  return sum * gammaDensity(a, x);
}

/// The upper function by its continued fraction, after Lentz; for x >= a + 1.
double upperFraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d;
  for (int k = 1; k < kMaxSteps; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = b + numerator / c;
    c = std::abs(c) < kTiny ? kTiny : c;
    value *= d * c;
    if (std::abs(d * c - 1) < kEpsilon)
      break;
  }
  return value * a * gammaDensity(a, x);
}

/// The upper function for small a and x without 1 - (nearly 1): 1 - x^a / gamma(a + 1) * sum.
double upperSeries(double a, double x) {
  double term = 1, sum = 0;
  for (int k = 1; k < kMaxSteps; ++k) {
    term *= -x / k;
    const double part = term / (a + k);
    sum += part;
    if (std::abs(part) <= kEpsilon / 4 * std::abs(sum))
      break;
  }
  const double logarithm = a * std::log(x) - lgamma(a + 1);
  return -std::expm1(logarithm) - std::exp(logarithm) * a * sum;
}

} // namespace

double igamma(double a, double x) {
  if (!(x >= 0) || !(a >= 0))
    return kNan;
  if (a == 0)
    return x > 0 ? 1 : kNan;
  if (x == 0)
    return 0;
  if (std::isinf(a))
    return std::isinf(x) ? kNan : 0;
  if (std::isinf(x))
    return 1;
  return x < a + 1 ? lowerSeries(a, x) : 1 - upperFraction(a, x);
}

double igammac(double a, double x) {
  if (!(x >= 0) || !(a >= 0))
    return kNan;
  if (a == 0)
    return x > 0 ? 0 : kNan;
  if (x == 0)
    return 1;
  if (std::isinf(a))
    return std::isinf(x) ? kNan : 1;
  if (std::isinf(x))
    return 0;
  if (x >= a + 1)
    return upperFraction(a, x);
  return a < 1 && x < 1 ? upperSeries(a, x) : 1 - lowerSeries(a, x);
}

} // namespace ingot::special
