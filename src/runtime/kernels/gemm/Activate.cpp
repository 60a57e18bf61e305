#include "runtime/kernels/gemm/Activate.h"

#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/elementwise/Simd.h"

#include <limits>

namespace ingot::gemm {
namespace {

template <Activation kind> __attribute__((always_inline)) inline void activateEach(float *values, int64_t count) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i)
    values[i] = activate(kind, values[i]);
}

INGOT_SIMD void activateLoop(Activation activation, float *values, int64_t count) {
  switch (activation) {
#define INGOT_CASE(KIND)                                                                                               \
  case Activation::KIND:                                                                                               \
    return activateEach<Activation::KIND>(values, count);
  case Activation::None:
    return;
    INGOT_CASE(Relu)
    INGOT_CASE(Relu6)
    INGOT_CASE(Gelu)
    INGOT_CASE(GeluTanh)
    INGOT_CASE(Silu)
    INGOT_CASE(Sigmoid)
    INGOT_CASE(Tanh)
    INGOT_CASE(HardSwish)
    INGOT_CASE(HardSigmoid)
#undef INGOT_CASE
  }
}

#if defined(__x86_64__)
#define INGOT_LOOP(KIND, FUNCTION)                                                                                     \
  INGOT_AVX512 void KIND##Loop(float *values, int64_t count) {                                                         \
    for (int64_t i = 0; i < count; i += avx512::kLanes) {                                                              \
      const __mmask16 mask = avx512::firstOf(count - i);                                                               \
      const __m512 x = _mm512_maskz_loadu_ps(mask, values + i);                                                        \
      _mm512_mask_storeu_ps(values + i, mask, avx512::FUNCTION(x));                                                    \
    }                                                                                                                  \
  }
INGOT_LOOP(Gelu, gelu)
INGOT_LOOP(GeluTanh, geluTanh)
INGOT_LOOP(Silu, silu)
INGOT_LOOP(Sigmoid, sigmoid)
INGOT_LOOP(HardSwish, hardSwish)
INGOT_LOOP(HardSigmoid, hardSigmoid)
#undef INGOT_LOOP

using Loop = void (*)(float *, int64_t);

/// Null where the vectoriser's loop is as good.
Loop loopOf(Activation activation) {
  switch (activation) {
#define INGOT_CASE(KIND)                                                                                               \
  case Activation::KIND:                                                                                               \
    return KIND##Loop;
    INGOT_CASE(Gelu)
    INGOT_CASE(GeluTanh)
    INGOT_CASE(Silu)
    INGOT_CASE(Sigmoid)
    INGOT_CASE(HardSwish)
    INGOT_CASE(HardSigmoid)
#undef INGOT_CASE
  default:
    return nullptr;
  }
}
#endif

} // namespace

bool isLimit(Activation activation) { return activation <= Activation::Relu6; }

Limits limitsOf(Activation activation) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  switch (activation) {
  case Activation::Relu:
    return {0, infinity};
  case Activation::Relu6:
    return {0, 6};
  default:
    return {-infinity, infinity};
  }
}

void activateAll(Activation activation, float *values, int64_t count) {
#if defined(__x86_64__)
  if (const Loop loop = avx512::isThere() ? loopOf(activation) : nullptr)
    return loop(values, count);
#endif
  activateLoop(activation, values, count);
}

} // namespace ingot::gemm
