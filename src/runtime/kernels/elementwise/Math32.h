// Elementary functions of float without branches, tables or library calls, so that loops calling
// them vectorise. Errors are below 3 units in the last place (see test/). Multiply-adds are explicit
// and contraction is off: every instruction set gives the same bits.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#pragma float_control(push)
#pragma clang fp contract(off)
// A call left in a loop keeps it from being vectorised.
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)

namespace ingot::math {

inline float fma(float a, float b, float c) { return __builtin_elementwise_fma(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_elementwise_fma(a, b, c); }
inline float abs(float x) { return __builtin_elementwise_abs(x); }
inline uint32_t asBits(float x) { return std::bit_cast<uint32_t>(x); }
inline float fromBits(uint32_t x) { return std::bit_cast<float>(x); }
inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, which is then in the low bits.
inline constexpr float kRound = 0x1.8p23f;

/// 2^n for n in [-126, 127]; the low bits of `rounded` hold n.
inline float powerOfTwo(uint32_t n) { return fromBits((n + 127u) << 23); }

/// x * 2^n for n in [-252, 254], in two steps so that subnormal results are rounded only once.
inline float scale(float x, int32_t n) {
  const int32_t half = n >> 1;
  return x * powerOfTwo(static_cast<uint32_t>(half)) *
         powerOfTwo(static_cast<uint32_t>(n) - static_cast<uint32_t>(half));
}

/// (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2.
inline float expTail(float r) {
  float p = 0.000198527617612853646278381f;
  p = fma(p, r, 0.00139304355252534151077271f);
  p = fma(p, r, 0.00833336077630519866943359f);
  p = fma(p, r, 0.0416664853692054748535156f);
  p = fma(p, r, 0.166666671633720397949219f);
  return fma(p, r, 0.5f);
}

/// x = n * ln(2) + r.
struct ExpReduction {
  float r;
  int32_t n;
};

inline ExpReduction reduceExp(float x) {
  const float shifted = fma(x, 1.44269504088896341f, kRound);
  const float n = shifted - kRound;
  float r = fma(n, -0.693145751953125f, x);
  r = fma(n, -1.42860682030941723212e-6f, r);
  return {r, static_cast<int32_t>(asBits(shifted) - asBits(kRound))};
}

inline float exp(float x) {
  // Comparisons are written so that NaN passes.
  float c = x < -104.0f ? -104.0f : x;
  c = c > 89.0f ? 89.0f : c;
  const ExpReduction a = reduceExp(c);
  return scale(fma(a.r * a.r, expTail(a.r), a.r) + 1.0f, a.n);
}

inline float exp2(float x) {
  float c = x < -151.0f ? -151.0f : x;
  c = c > 129.0f ? 129.0f : c;
  const float shifted = c + kRound;
  const float r = (c - (shifted - kRound)) * 0.693147180559945309f;
  const int32_t n = static_cast<int32_t>(asBits(shifted) - asBits(kRound));
  return scale(fma(r * r, expTail(r), r) + 1.0f, n);
}

inline float expm1(float x) {
  float c = x < -18.0f ? -18.0f : x;
  c = c > 89.0f ? 89.0f : c;
  const ExpReduction a = reduceExp(c);
  const float p = fma(a.r * a.r, expTail(a.r), a.r);
  // Half of the result, since 2^128 does not fit.
  const float s = powerOfTwo(static_cast<uint32_t>(a.n) - 1u);
  const float result = fma(p, s, s - 0.5f) * 2.0f;
  return abs(x) < 0x1.0p-25f ? x : result;
}

/// x = 2^e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
struct LogReduction {
  float f, e;
};

inline LogReduction reduceLog(float x) {
  const bool isSubnormal = x < 0x1.0p-126f;
  const uint32_t w = asBits(isSubnormal ? x * 0x1.0p23f : x);
  const uint32_t shift = (w - 0x3F3504F3u) & 0xFF800000u;
  const float e = static_cast<float>(static_cast<int32_t>(shift) >> 23);
  return {fromBits(w - shift) - 1.0f, isSubnormal ? e - 23.0f : e};
}

/// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)).
inline float logTail(float f) {
  float p = 7.0376836292e-2f;
  p = fma(p, f, -1.1514610310e-1f);
  p = fma(p, f, 1.1676998740e-1f);
  p = fma(p, f, -1.2420140846e-1f);
  p = fma(p, f, 1.4249322787e-1f);
  p = fma(p, f, -1.6668057665e-1f);
  p = fma(p, f, 2.0000714765e-1f);
  p = fma(p, f, -2.4999993993e-1f);
  p = fma(p, f, 3.3333331174e-1f);
  const float z = f * f;
  return fma(p * f, z, -0.5f * z);
}

/// `result`, or the logarithm where x is no positive finite number.
inline float logSpecial(float x, float result) {
  float r = x < kInf ? result : x; // +inf and NaN stay
  r = x == 0.0f ? -kInf : r;
  return x < 0.0f ? kNan : r;
}

inline float log(float x) {
  const LogReduction a = reduceLog(x);
  const float tail = fma(a.e, -2.12194440e-4f, logTail(a.f));
  return logSpecial(x, fma(a.e, 0.693359375f, a.f + tail));
}

inline float log2(float x) {
  const LogReduction a = reduceLog(x);
  // log2(e) = 1 + 0.4427: the large part is added last and without error.
  const float tail = logTail(a.f);
  float r = fma(tail, 0.44269504088896340736f, fma(a.f, 0.44269504088896340736f, tail));
  return logSpecial(x, a.e + (a.f + r));
}

inline float log10(float x) {
  const LogReduction a = reduceLog(x);
  const float tail = logTail(a.f);
  float r = fma(a.e, 7.903421e-8f, tail * 0.434294481903251828f);
  r = fma(a.f, 7.00731903251827651e-4f, r);
  r = fma(a.f, 0.43359375f, r);
  return logSpecial(x, fma(a.e, 0.301029920578f, r));
}

inline float log1p(float x) {
  const float u = 1.0f + x;
  LogReduction a = reduceLog(u);
  // What the sum lost, relative to u.
  const float lost = (u >= 2.0f ? 1.0f - (u - x) : x - (u - 1.0f)) / u;
  const bool isNear = a.e == 0.0f;
  a.f = isNear ? x : a.f;
  const float tail = fma(a.e, -2.12194440e-4f, logTail(a.f)) + (isNear ? 0.0f : lost);
  const float r = logSpecial(u, fma(a.e, 0.693359375f, a.f + tail));
  return abs(x) < 0x1.0p-24f ? x : r;
}

inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

inline float tanh(float x) {
  float a = abs(x);
  a = a > 10.0f ? 10.0f : a;
  const float t = expm1(2.0f * a);
  // No copysign: rounded to bfloat16 and vectorised for AVX-512, LLVM 19 makes wrong code of it.
  const float r = t / (t + 2.0f);
  return abs(x) < 0x1.0p-12f ? x : x < 0.0f ? -r : r;
}

inline float erf(float x) {
  const float t = abs(x);
  const float s = x * x;
  // 1 - exp(polynomial) away from zero. From 4 on it is 1; the limit keeps infinities out of the polynomial.
  const float c = t > 4.0f ? 4.0f : t;
  const float c2 = c * c;
  float far = fma(fma(-1.72853470e-5f, c, 3.83197126e-4f), c2, fma(-3.88396438e-3f, c, 2.42546219e-2f));
  far = fma(far, c, -1.06777877e-1f);
  far = fma(far, c, -6.34846687e-1f);
  far = fma(far, c, -1.28717512e-1f);
  far = 1.0f - exp(fma(far, c, -c));
  float near = fma(-5.96761703e-4f, s, 4.99119423e-3f);
  near = fma(near, s, -2.67681349e-2f);
  near = fma(near, s, 1.12819925e-1f);
  near = fma(near, s, -3.76125336e-1f);
  near = fma(near, s, 1.28379166e-1f);
  near = fma(near, x, x);
  return t > 0.921875f ? (x < 0.0f ? -far : far) : near;
}

/// x modulo pi/2, and the quadrant. Exact for every finite x: a float above 2^39 is y * 2^s with an integer y < 2^40,
/// so that 2^s can be replaced by its remainder modulo 2 pi.
struct Quadrant {
  float r;
  uint32_t n;
};

inline Quadrant reduceAngle(float x) {
  double y = x, hi = 1.0, lo = 0.0;
  const float a = abs(x);
#define INGOT_LARGE_ANGLE(exponent, high, low)                                                                         \
  hi = a >= 0x1.0p##exponent##f ? high : hi;                                                                           \
  lo = a >= 0x1.0p##exponent##f ? low : lo;                                                                            \
  y = a >= 0x1.0p##exponent##f ? static_cast<double>(x) * (0x1.0p23 / 0x1.0p##exponent) : y;
#include "runtime/kernels/elementwise/large_angles.inc"
#undef INGOT_LARGE_ANGLE
  const double p = y * hi;
  const double rest = fma(y, hi, -p) + y * lo;
  // 1.5 * 2^52 rounds a double as kRound does a float.
  const double shifted = fma(p, 0.63661977236758134308, 0x1.8p52);
  const double n = shifted - 0x1.8p52;
  double r = fma(n, -1.5707963267948966192, p);
  r = fma(n, -6.123233995736766036e-17, r) + rest;
  return {static_cast<float>(r), static_cast<uint32_t>(std::bit_cast<uint64_t>(shifted))};
}

/// The sine of q, which is in [-pi/4, pi/4] and `q.n` quadrants further.
inline float sinOf(Quadrant q) {
  const float z = q.r * q.r;
  float s = fma(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = fma(s, z, -1.6666654611e-1f);
  s = fma(s * z, q.r, q.r);
  float c = fma(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = fma(c, z, 4.166664568298827e-2f);
  c = fma(c, z * z, fma(-0.5f, z, 1.0f));
  const float result = (q.n & 1u) ? c : s;
  return fromBits(asBits(result) ^ ((q.n & 2u) << 30));
}

inline float sin(float x) {
  const float r = sinOf(reduceAngle(x));
  return x == 0.0f ? x : r; // keeps the sign of zero
}

inline float cos(float x) {
  Quadrant q = reduceAngle(x);
  q.n += 1u;
  return sinOf(q);
}

/// log2 of a positive float, with more bits than a float has.
inline double log2Wide(float x) {
  // As a double, a subnormal float is a normal number.
  const uint64_t w = std::bit_cast<uint64_t>(static_cast<double>(x));
  const uint64_t shift = (w - 0x3FE6A09E667F3BCDull) & 0xFFF0000000000000ull;
  // Via 32 bits: conversions from int64 are slow before AVX-512.
  const double e = static_cast<double>(static_cast<int32_t>(shift >> 32) >> 20);
  const double m = std::bit_cast<double>(w - shift);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 1.0 / 19.0;
  p = fma(p, z, 1.0 / 17.0);
  p = fma(p, z, 1.0 / 15.0);
  p = fma(p, z, 1.0 / 13.0);
  p = fma(p, z, 1.0 / 11.0);
  p = fma(p, z, 1.0 / 9.0);
  p = fma(p, z, 1.0 / 7.0);
  p = fma(p, z, 1.0 / 5.0);
  p = fma(p, z, 1.0 / 3.0);
  p = fma(p, z, 1.0);
  return fma(s * 2.88539008177792681, p, e);
}

/// 2^x for |x| < 1000.
inline double exp2Wide(double x) {
  const double shifted = x + 0x1.8p52;
  const double r = (x - (shifted - 0x1.8p52)) * 0.693147180559945309;
  double p = 1.0 / 3628800.0;
  p = fma(p, r, 1.0 / 362880.0);
  p = fma(p, r, 1.0 / 40320.0);
  p = fma(p, r, 1.0 / 5040.0);
  p = fma(p, r, 1.0 / 720.0);
  p = fma(p, r, 1.0 / 120.0);
  p = fma(p, r, 1.0 / 24.0);
  p = fma(p, r, 1.0 / 6.0);
  p = fma(p, r, 0.5);
  p = fma(p, r, 1.0);
  p = fma(p, r, 1.0);
  return p * std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023u) << 52);
}

/// C's pow, with all its special cases.
inline float pow(float x, float y) {
  const float a = abs(x);
  double l = log2Wide(a);
  l = a == 0.0f ? -static_cast<double>(kInf) : l;
  l = a < kInf ? l : static_cast<double>(a); // infinity and NaN
  double t = l * static_cast<double>(y);
  t = t > 200.0 ? 200.0 : t;
  t = t < -200.0 ? -200.0 : t;
  float r = static_cast<float>(exp2Wide(t));
  const float truncated = __builtin_elementwise_trunc(y);
  const bool isInteger = truncated == y;
  const float half = y * 0.5f;
  const bool isOdd = isInteger & (__builtin_elementwise_trunc(half) != half);
  // Not && and ||, which would be branches.
  r = ((std::bit_cast<int32_t>(x) < 0) & isOdd) ? -r : r;
  r = ((x < 0.0f) & (a < kInf) & !isInteger) ? kNan : r;
  r = ((a == 1.0f) & (abs(y) == kInf)) ? 1.0f : r;
  return ((y == 0.0f) | (x == 1.0f)) ? 1.0f : r;
}

} // namespace ingot::math

#pragma clang attribute pop
#pragma float_control(pop)
