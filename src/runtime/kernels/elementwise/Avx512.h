// What kernels with registers of sixteen floats share. Only functions that are marked for AVX-512 may use it.
#pragma once

namespace ingot::avx512 {

/// Whether this CPU has what functions marked INGOT_AVX512 need. INGOT_AVX512=0: as if it had not.
bool isThere();

} // namespace ingot::avx512

#if defined(__x86_64__)
#include <cstdint>
#include <immintrin.h>

#define INGOT_AVX512 __attribute__((target("avx512f,avx512vl,fma")))
#define INGOT_AVX2 __attribute__((target("avx2,fma")))
#define INGOT_AVX512_INLINE INGOT_AVX512 inline __attribute__((always_inline))

namespace ingot::avx512 {

inline constexpr int64_t kLanes = 16;

/// Which of a register's elements are among the first `count`.
inline __mmask16 firstOf(int64_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xffff : count <= 0 ? 0 : (1 << count) - 1);
}

/// A NaN is neither below the floor nor above the ceiling: min and max give their second operand then.
INGOT_AVX512_INLINE __m512 limited(__m512 x, __m512 floor, __m512 ceiling) {
  return _mm512_min_ps(ceiling, _mm512_max_ps(floor, x));
}

/// exp(x) of x <= 0, for sums that have a 1 in them: 0 below -87, instead of subnormal numbers. NaN stays.
INGOT_AVX512_INLINE __m512 expOrZero(__m512 x) {
  const __m512 toInteger = _mm512_set1_ps(0x1.8p23f);
  const __mmask16 counts = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87.0f), _CMP_NLT_UQ);
  const __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(1.44269504088896341f), toInteger), toInteger);
  __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0.693145751953125f), x);
  r = _mm512_fmadd_ps(n, _mm512_set1_ps(-1.42860682030941723212e-6f), r);
  __m512 power = _mm512_set1_ps(1.3814598788e-3f);
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(8.3687165752e-3f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(4.1668388993e-2f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(0.16666521132f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(0.49999994040f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(1.0f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(1.0f));
  return _mm512_maskz_scalef_ps(counts, power, n);
}

/// 1 / (1 + exp(-x)), within four units in the last place for |x| < 10. Written for few instructions: exp(-x) is
/// 2^(n + r), where r is at most a half, and instead of a division an estimate is made better once. That of infinity is
/// exact, so that x * sigmoid(x) of -infinity is NaN, as a division would give.
INGOT_AVX512_INLINE __m512 sigmoid(__m512 x) {
  const __m512 scale = _mm512_set1_ps(-1.44269504088896341f), toInteger = _mm512_set1_ps(0x1.8p23f);
  x = limited(x, _mm512_set1_ps(-128.0f), _mm512_set1_ps(87.0f));
  const __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, scale, toInteger), toInteger);
  const __m512 r = _mm512_fmsub_ps(x, scale, n);
  __m512 power = _mm512_set1_ps(1.534581e-4f);
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(1.3399931e-3f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(9.618489e-3f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(5.5503286e-2f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(0.24022646f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(0.6931472f));
  power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(1.0f));
  const __m512 d = _mm512_add_ps(_mm512_scalef_ps(power, n), _mm512_set1_ps(1.0f));
  const __m512 estimate = _mm512_rcp14_ps(d);
  const __mmask16 isFinite = _mm512_cmp_ps_mask(d, _mm512_set1_ps(__builtin_inff()), _CMP_NEQ_UQ);
  return _mm512_mask_mul_ps(estimate, isFinite, estimate, _mm512_fnmadd_ps(d, estimate, _mm512_set1_ps(2.0f)));
}

INGOT_AVX512_INLINE __m512 silu(__m512 x) { return _mm512_mul_ps(x, sigmoid(x)); }

/// 0.5 * x * (1 + tanh(inner)) with the usual cubic inside.
INGOT_AVX512_INLINE __m512 geluTanh(__m512 x) {
  const __m512 cubic = _mm512_fmadd_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(2 * 0.79788456080286535588f * 0.044715f),
                                       _mm512_set1_ps(2 * 0.79788456080286535588f));
  return _mm512_mul_ps(x, sigmoid(_mm512_mul_ps(x, cubic)));
}

/// x times the normal distribution, which is 0.5 + x * p(x²) / q(x²) within 2e-7. Infinities give NaN, as in PyTorch's
/// loop over floats.
INGOT_AVX512_INLINE __m512 gelu(__m512 x) {
  const __m512 limit = _mm512_set1_ps(5.6f), lower = _mm512_set1_ps(-5.6f);
  const __m512 c = limited(x, lower, limit), t = _mm512_mul_ps(c, c);
  __m512 p = _mm512_set1_ps(1.0774129505e-10f), q = _mm512_set1_ps(6.1736711359e-5f);
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-2.1532892802e-8f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(3.1923871120e-6f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(1.6984406102e-4f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(4.5112944208e-3f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(3.5967510194e-2f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(0.39894226193f));
  q = _mm512_fmadd_ps(q, t, _mm512_set1_ps(1.8312033499e-3f));
  q = _mm512_fmadd_ps(q, t, _mm512_set1_ps(2.9114427045e-2f));
  q = _mm512_fmadd_ps(q, t, _mm512_set1_ps(0.25682291389f));
  q = _mm512_fmadd_ps(q, t, _mm512_set1_ps(1.0f));
  const __m512 estimate = _mm512_rcp14_ps(q);
  const __m512 inverse = _mm512_mul_ps(estimate, _mm512_fnmadd_ps(q, estimate, _mm512_set1_ps(2.0f)));
  const __mmask16 isPositive = _mm512_cmp_ps_mask(x, lower, _CMP_NLE_UQ); // below it is too small to count
  const __m512 share = _mm512_maskz_fmadd_ps(isPositive, _mm512_mul_ps(c, p), inverse, _mm512_set1_ps(0.5f));
  return _mm512_fmadd_ps(x, share, _mm512_sub_ps(x, x));
}

INGOT_AVX512_INLINE __m512 hardSigmoid(__m512 x) {
  const __m512 sum = _mm512_add_ps(x, _mm512_set1_ps(3.0f));
  return _mm512_mul_ps(limited(sum, _mm512_setzero_ps(), _mm512_set1_ps(6.0f)), _mm512_set1_ps(1.0f / 6.0f));
}

INGOT_AVX512_INLINE __m512 hardSwish(__m512 x) { return _mm512_mul_ps(x, hardSigmoid(x)); }

} // namespace ingot::avx512

#endif
