// Bessel functions and their relatives, in double.
#include "runtime/kernels/special/Special.h"

#include <array>
#include <math.h> // j0, j1, y0, y1
#include <span>

namespace ingot::special {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Where the power series ends and the asymptotic one begins. Both are right to the last digits here.
constexpr double kSeriesLimit = 25;

/// exp(-x) * I of order 0 or 1 for x >= 0.
double scaledI(int order, double x) {
  if (x != x)
    return x;
  if (x <= kSeriesLimit) { // all terms are positive
    const double quarter = x * x / 4;
    double term = order == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; term > 1e-18 * sum; ++k) {
      term *= quarter / (static_cast<double>(k) * (k + order));
      sum += term;
    }
    return std::exp(-x) * sum;
  }
  const double square = 4.0 * order * order;
  double term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) {
    const double odd = 2.0 * k - 1;
    term *= -(square - odd * odd) / (8.0 * k * x);
    sum += term;
    if (std::abs(term) < 1e-18 * std::abs(sum))
      break;
  }
  return sum / std::sqrt(2 * std::numbers::pi * x);
}

/// exp(x) * K of any order for x > 0: the trapezoidal rule for its integral over exp(-x * cosh t) * cosh(order * t),
/// whose error falls exponentially with the step.
double scaledK(double order, double x) {
  const double step = std::min(0.125, 0.6 / std::sqrt(x));
  double sum = 0.5;
  for (int k = 1; k < 1 << 16; ++k) {
    const double t = k * step, half = std::sinh(t / 2);
    const double term = std::exp(-2 * x * half * half + order * t) * (1 + std::exp(-2 * order * t)) / 2;
    sum += term;
    if (term < 1e-18 * sum)
      break;
  }
  return sum * step;
}

double modifiedK(double order, double x, bool isScaled) {
  if (x != x)
    return x;
  if (x <= 0)
    return x == 0 ? kInfinity : kNan;
  if (std::isinf(x))
    return 0;
  return isScaled ? scaledK(order, x) : scaledK(order, x) * std::exp(-x);
}

// PyTorch evaluates the rational approximations of Cephes beyond the first waves, and leaves out the leading 1 of
// denominators that are written without it. That changes the seventh digit, so it is done here, too.

/// What PyTorch's quotient is to the right one, whose denominator is z^n + coefficients[0] * z^(n - 1) + ….
double withoutLeadingOne(std::span<const double> coefficients, double z) {
  double rest = 0, leading = 1;
  for (double coefficient : coefficients) {
    rest = rest * z + coefficient;
    leading *= z;
  }
  return (leading + rest) / rest;
}

/// J and Y of order 0 or 1 for x > 5.
std::pair<double, double> oscillating(int order, double x) {
  static constexpr std::array<std::array<double, 7>, 2> kDenominators = {
      {{64.3178256118, 856.430025977, 3882.40183605, 7240.46774196, 5930.72701187, 2062.09331660, 242.005740240},
       {74.2373277036, 1056.44886038, 4986.41058338, 9562.31892405, 7997.04160447, 2826.19278518, 336.093607811}}};
  const double j = order == 0 ? ::j0(x) : ::j1(x), y = order == 0 ? ::y0(x) : ::y1(x);
  if (std::isinf(x) || x != x)
    return {j, y};
  const double angle = x - (order == 0 ? 0.25 : 0.75) * std::numbers::pi;
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const double quadrature = y * cosine - j * sine;
  const double change = quadrature * (withoutLeadingOne(kDenominators[static_cast<size_t>(order)], 25 / (x * x)) - 1);
  return {j - change * sine, y + change * cosine};
}

/// Ai(-x) of PyTorch from the right Ai and Bi, for x > 2.09.
double airyOfPyTorch(double ai, double bi, double x) {
  static constexpr std::array<double, 9> kEven = {13.3560420707,    32.6825032795,    26.7367040941,
                                                  9.18707402907,    1.47529146772,    0.115687173795,
                                                  4.40291641615e-3, 7.54720348287e-5, 4.51850092971e-7};
  static constexpr std::array<double, 10> kOdd = {
      9.30892908077,    19.8352928718,    15.5646628933,    5.47686069423,    0.954293611619,
      8.64580826352e-2, 4.12656523824e-3, 1.01259085117e-4, 1.17166733214e-6, 4.91834570063e-9};
  const double root = std::sqrt(x), zeta = 2 * x * root / 3, z = 1 / (zeta * zeta);
  const double factor = std::numbers::inv_sqrtpi / std::sqrt(root);
  const double sine = std::sin(zeta + std::numbers::pi / 4), cosine = std::cos(zeta + std::numbers::pi / 4);
  // Ai = factor * (sine * even - cosine * odd), Bi = factor * (cosine * even + sine * odd)
  const double even = (ai * sine + bi * cosine) / factor, odd = (bi * sine - ai * cosine) / factor;
  const double theirEven = 1 + (even - 1) * withoutLeadingOne(kEven, z);
  return factor * (sine * theirEven - cosine * odd * withoutLeadingOne(kOdd, z));
}

/// Ai(x) by its power series, in long double since it cancels.
double airySeries(double x) {
  constexpr long double kValue = 0.355028053887817239260063186004183L;
  constexpr long double kSlope = 0.258819403792806798405183560189204L;
  const long double cube = static_cast<long double>(x) * x * x;
  long double even = 1, odd = x, evenSum = even, oddSum = odd;
  for (int k = 1; k < 200; ++k) {
    even *= cube / ((3.0L * k - 1) * (3.0L * k));
    odd *= cube / ((3.0L * k) * (3.0L * k + 1));
    evenSum += even;
    oddSum += odd;
    if (std::abs(even) < 1e-22L * std::abs(evenSum) && std::abs(odd) <= 1e-22L * std::abs(oddSum))
      break;
  }
  const auto ai = static_cast<double>(kValue * evenSum - kSlope * oddSum);
  if (x >= -2.09)
    return ai;
  return airyOfPyTorch(ai, static_cast<double>(std::sqrt(3.0L) * (kValue * evenSum + kSlope * oddSum)), -x);
}

/// Ai(-x) for large x by its asymptotic series.
double airyOscillating(double x) {
  const double root = std::sqrt(x), zeta = 2 * x * root / 3;
  double term = 1, cosine = 1, sine = 0;
  for (int k = 1; k < 30; ++k) {
    const double next = term * (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / ((2.0 * k - 1) * 216 * k * zeta);
    if (next > term || next < 1e-19)
      break;
    term = next;
    const double sign = k / 2 % 2 == 0 ? 1 : -1;
    (k % 2 == 0 ? cosine : sine) += sign * term;
  }
  const double angle = zeta - std::numbers::pi / 4;
  return (std::cos(angle) * cosine + std::sin(angle) * sine) / (std::sqrt(std::numbers::pi) * std::sqrt(root));
}

} // namespace

double i0e(double x) { return scaledI(0, std::abs(x)); }
double i1e(double x) { return std::copysign(scaledI(1, std::abs(x)), x); }

double bessel_j0(double x) { return std::abs(x) <= 5 ? ::j0(x) : oscillating(0, std::abs(x)).first; }
double bessel_j1(double x) {
  return std::abs(x) <= 5 ? ::j1(x) : std::copysign(1, x) * oscillating(1, std::abs(x)).first;
}
double bessel_y0(double x) { return x == 0 ? -kInfinity : x < 0 ? kNan : x <= 5 ? ::y0(x) : oscillating(0, x).second; }
double bessel_y1(double x) { return x == 0 ? -kInfinity : x < 0 ? kNan : x <= 5 ? ::y1(x) : oscillating(1, x).second; }

double bessel_k0(double x) { return modifiedK(0, x, false); }
double bessel_k1(double x) { return modifiedK(1, x, false); }
double bessel_k0e(double x) { return modifiedK(0, x, true); }
double bessel_k1e(double x) { return modifiedK(1, x, true); }

double airy_ai(double x) {
  if (!std::isfinite(x))
    return kNan;
  if (x > 103.892)
    return 0;
  if (x > 1) {
    const double zeta = 2 * x * std::sqrt(x) / 3;
    return std::sqrt(x / 3) / std::numbers::pi * scaledK(1.0 / 3, zeta) * std::exp(-zeta);
  }
  return x < -8 ? airyOscillating(-x) : airySeries(x);
}

double spherical_bessel_j0(double x) {
  if (std::isinf(x))
    return 0;
  if (std::abs(x) < 0.5) {
    const double z = x * x;
    return 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110 * (1 - z / 156)))));
  }
  return std::sin(x) / x;
}

} // namespace ingot::special
