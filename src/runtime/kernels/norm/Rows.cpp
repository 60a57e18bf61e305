#include "runtime/kernels/norm/Rows.h"

#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Simd.h"

#include <algorithm>
#include <bit>

namespace ingot::rows {
namespace {

/// Partial results of a loop: two vectors of the widest kind.
constexpr int64_t kLanes = 32;
/// Elements summed in float before they are added to a double.
constexpr int64_t kChunk = 4096;

double total(const float *lanes) {
  double result = 0;
  for (int64_t i = 0; i < kLanes; ++i)
    result += static_cast<double>(lanes[i]);
  return result;
}

INGOT_SIMD double sumChunk(const float *x, int64_t count) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t j = 0; j < kLanes; ++j)
      lanes[j] += x[i + j];
  double rest = 0;
  for (; i < count; ++i)
    rest += static_cast<double>(x[i]);
  return total(lanes) + rest;
}

INGOT_SIMD double squaresChunk(const float *x, float shift, int64_t count) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t j = 0; j < kLanes; ++j)
      lanes[j] += (x[i + j] - shift) * (x[i + j] - shift);
  double rest = 0;
  for (; i < count; ++i)
    rest += static_cast<double>((x[i] - shift) * (x[i] - shift));
  return total(lanes) + rest;
}

/// exp of x <= 0, for sums that have a 1 in them: 0 instead of subnormal numbers, which CPUs compute a hundred times
/// slower, and which masks make many of. NaN stays.
__attribute__((always_inline)) inline float expOrZero(float x) {
  constexpr float smallest = -87.0f;
  const math::ExpReduction a = math::reduceExp(x < smallest ? smallest : x);
  const float y = math::fma(a.r * a.r, math::expTail(a.r), a.r) + 1.0f;
  return x < smallest ? 0.0f : y * math::powerOfTwo(static_cast<uint32_t>(a.n));
}

INGOT_SIMD void expLoop(float *y, const float *x, float shift, int64_t count) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i)
    y[i] = expOrZero(x[i] - shift);
}

#if defined(__x86_64__)
INGOT_AVX512 float maximum512(const float *x, int64_t count) {
  const __m512 least = _mm512_set1_ps(-math::kInf);
  __m512 first = least, second = least;
  __mmask16 isNan = 0;
  for (int64_t i = 0; i < count; i += 2 * avx512::kLanes) {
    const __m512 a = _mm512_mask_loadu_ps(least, avx512::firstOf(count - i), x + i);
    const __m512 b = _mm512_mask_loadu_ps(least, avx512::firstOf(count - i - avx512::kLanes), x + i + avx512::kLanes);
    first = _mm512_max_ps(a, first);
    second = _mm512_max_ps(b, second);
    isNan |= _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
  }
  return isNan ? math::kNan : _mm512_reduce_max_ps(_mm512_max_ps(first, second));
}

INGOT_AVX512 double exp512(float *y, const float *x, float shift, int64_t count) {
  const __m512 by = _mm512_set1_ps(shift);
  __m512 sum = _mm512_setzero_ps();
  for (int64_t i = 0; i < count; i += avx512::kLanes) {
    const __mmask16 mask = avx512::firstOf(count - i);
    const __m512 power = avx512::expOrZero(_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, x + i), by));
    _mm512_mask_storeu_ps(y + i, mask, power);
    sum = _mm512_mask_add_ps(sum, mask, sum, power);
  }
  return static_cast<double>(_mm512_reduce_add_ps(sum));
}
#endif

/// y = exp(x - shift) of at most kChunk elements; returns their sum.
double expChunk(float *y, const float *x, float shift, int64_t count) {
#if defined(__x86_64__)
  if (avx512::isThere())
    return exp512(y, x, shift, count);
#endif
  expLoop(y, x, shift, count);
  return sumChunk(y, count);
}

INGOT_SIMD float maximumLoop(const float *x, int64_t count) {
  float lanes[kLanes];
  bool hasNan[kLanes] = {};
  std::fill_n(lanes, kLanes, -math::kInf);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t j = 0; j < kLanes; ++j) {
      lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
      hasNan[j] |= x[i + j] != x[i + j];
    }
  float result = -math::kInf;
  for (; i < count; ++i)
    result = scalar::maximum(result, x[i]);
  for (int64_t j = 0; j < kLanes; ++j)
    result = hasNan[j] ? math::kNan : scalar::maximum(result, lanes[j]);
  return result;
}

} // namespace

float maximum(const float *x, int64_t count) {
#if defined(__x86_64__)
  if (avx512::isThere())
    return maximum512(x, count);
#endif
  return maximumLoop(x, count);
}

double sum(const float *x, int64_t count) {
  double result = 0;
  for (int64_t i = 0; i < count; i += kChunk)
    result += sumChunk(x + i, std::min(kChunk, count - i));
  return result;
}

double squares(const float *x, float shift, int64_t count) {
  double result = 0;
  for (int64_t i = 0; i < count; i += kChunk)
    result += squaresChunk(x + i, shift, std::min(kChunk, count - i));
  return result;
}

double expShifted(float *y, const float *x, float shift, int64_t count) {
  double result = 0;
  for (int64_t i = 0; i < count; i += kChunk) {
    result += expChunk(y + i, x + i, shift, std::min(kChunk, count - i));
  }
  return result;
}

double sumExpShifted(const float *x, float shift, int64_t count) {
  constexpr int64_t chunk = 512;
  float buffer[chunk];
  double result = 0;
  for (int64_t i = 0; i < count; i += chunk) {
    result += expChunk(buffer, x + i, shift, std::min(chunk, count - i));
  }
  return result;
}

INGOT_SIMD void scale(float *y, const float *x, float factor, int64_t count) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i)
    y[i] = x[i] * factor;
}

INGOT_SIMD void shift(float *y, const float *x, float shift, int64_t count) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i)
    y[i] = x[i] - shift;
}

INGOT_SIMD void normalise(float *y, const float *x, float mean, float factor, const float *weight, const float *bias,
                          int64_t count) {
  if (weight && bias) {
#pragma clang loop vectorize(assume_safety)
    for (int64_t i = 0; i < count; ++i)
      y[i] = (x[i] - mean) * factor * weight[i] + bias[i];
  } else if (weight) {
#pragma clang loop vectorize(assume_safety)
    for (int64_t i = 0; i < count; ++i)
      y[i] = (x[i] - mean) * factor * weight[i];
  } else {
#pragma clang loop vectorize(assume_safety)
    for (int64_t i = 0; i < count; ++i)
      y[i] = (x[i] - mean) * factor + (bias ? bias[i] : 0.0f);
  }
}

INGOT_SIMD bool isFinite(const float *x, int64_t count) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::bit_cast<uint32_t>(x[i]) & 0x7fffffffU);
  return largest < 0x7f800000U;
}

INGOT_SIMD void addTo(float *__restrict sums, const float *__restrict x, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sums[i] += x[i];
}

INGOT_SIMD void addSquaresTo(float *__restrict sums, const float *__restrict x, const float *__restrict shift,
                             int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sums[i] += (x[i] - shift[i]) * (x[i] - shift[i]);
}

INGOT_SIMD void affine(float *__restrict y, const float *__restrict x, const float *__restrict factor,
                       const float *__restrict bias, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    y[i] = x[i] * factor[i] + bias[i];
}

} // namespace ingot::rows
