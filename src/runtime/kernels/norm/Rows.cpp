#include "runtime/kernels/norm/Rows.h"

#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Simd.h"

#include <algorithm>

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

INGOT_SIMD void expChunk(float *y, const float *x, float shift, int64_t count) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i)
    y[i] = expOrZero(x[i] - shift);
}

} // namespace

INGOT_SIMD float maximum(const float *x, int64_t count) {
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
    const int64_t length = std::min(kChunk, count - i);
    expChunk(y + i, x + i, shift, length);
    result += sumChunk(y + i, length);
  }
  return result;
}

double sumExpShifted(const float *x, float shift, int64_t count) {
  constexpr int64_t chunk = 512;
  float buffer[chunk];
  double result = 0;
  for (int64_t i = 0; i < count; i += chunk) {
    const int64_t length = std::min(chunk, count - i);
    expChunk(buffer, x + i, shift, length);
    result += sumChunk(buffer, length);
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
