// Tiles of small integers: an element of a row, and one of a panel, is four neighbours in depth, and an instruction multiplies all.
#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/gemm/Quads.h"
#include "runtime/kernels/gemm/Tile.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ingot::gemm {
namespace {

constexpr uint32_t kSign = 0x80000000U;

uint8_t rounded(float x, QuadScale scale) {
  return static_cast<uint8_t>(std::clamp(std::nearbyint(x) + static_cast<float>(scale.zero), 0.0f, 255.0f));
}

} // namespace
} // namespace ingot::gemm

#if defined(__x86_64__)

#define INGOT_TILE __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,avx512vnni")))
#define INGOT_TILE_INLINE INGOT_TILE inline __attribute__((always_inline))

namespace ingot::gemm {
namespace {

INGOT_TILE_INLINE __m512 multiplyAdd(__m512 x, __m512 y, __m512 sums) {
  return __m512(_mm512_dpbusd_epi32(__m512i(sums), __m512i(x), __m512i(y)));
}

INGOT_TILE_INLINE __m512 started(const Tile &, int) { return _mm512_setzero_ps(); }

INGOT_TILE_INLINE __m512 finished(__m512 sums, const Tile &tile, int row, int vector) {
  const QuadFactors &factors = tile.quads;
  const __m512i columnSums = _mm512_loadu_si512(factors.columnSums + vector * avx512::kLanes);
  const __m512i moved = _mm512_mullo_epi32(columnSums, _mm512_set1_epi32(factors.rowZeros[row]));
  const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(factors.rowScales[row]),
                                     _mm512_loadu_ps(factors.columnScales + vector * avx512::kLanes));
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(__m512i(sums), moved)), scale,
                         _mm512_loadu_ps(tile.start + vector * avx512::kLanes));
}

/// Of as many elements as fill registers, which are taken from `count`. As integers, positive floats are in order, and negative
/// ones are less than 0.
INGOT_TILE QuadRange rangeOfVectors(const float *elements, int64_t &count) {
  const __m512i sign = _mm512_set1_epi32(static_cast<int>(kSign));
  __m512i above = _mm512_setzero_si512(), below = above;
  int64_t i = 0;
  for (; i + avx512::kLanes <= count; i += avx512::kLanes) {
    const __m512i bits = _mm512_loadu_si512(elements + i);
    above = _mm512_max_epi32(above, bits);
    below = _mm512_max_epi32(below, _mm512_xor_epi32(bits, sign));
  }
  count -= i;
  return {static_cast<uint32_t>(_mm512_reduce_max_epi32(above)), static_cast<uint32_t>(_mm512_reduce_max_epi32(below))};
}

/// As many as fill registers; returns how many.
INGOT_TILE int64_t roundVectors(const float *from, uint8_t *to, int64_t count, QuadScale scale) {
  const __m512 factor = _mm512_set1_ps(scale.inverse());
  const __m512i zero = _mm512_set1_epi32(scale.zero), least = _mm512_setzero_si512();
  int64_t i = 0;
  for (; i + avx512::kLanes <= count; i += avx512::kLanes) {
    const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(from + i), factor));
    const __m512i moved = _mm512_max_epi32(_mm512_add_epi32(whole, zero), least);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i), _mm512_cvtusepi32_epi8(moved));
  }
  return i;
}

} // namespace
} // namespace ingot::gemm

#include "runtime/kernels/gemm/TileBody.h"

namespace ingot::gemm {

bool canComputeQuads() {
  static const bool can = avx512::isThere() && __builtin_cpu_supports("avx512vnni");
  return can;
}

void computeQuadTile(const Tile &tile, int64_t rows) { computeRows(tile, rows); }

} // namespace ingot::gemm

#else

namespace ingot::gemm {
namespace {

QuadRange rangeOfVectors(const float *, int64_t &) { return {}; }
int64_t roundVectors(const float *, uint8_t *, int64_t, QuadScale) { return 0; }

} // namespace

bool canComputeQuads() { return false; }
void computeQuadTile(const Tile &, int64_t) {}

} // namespace ingot::gemm

#endif

namespace ingot::gemm {

QuadRange QuadRange::of(const float *elements, int64_t count) {
  int64_t left = count;
  QuadRange range = canComputeQuads() ? rangeOfVectors(elements, left) : QuadRange{};
  for (int64_t i = count - left; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(elements[i]);
    uint32_t &side = (bits & kSign) == 0 ? range.above : range.below;
    side = std::max(side, bits & ~kSign);
  }
  return range;
}

void roundToQuads(const float *from, uint8_t *to, int64_t count, QuadScale scale) {
  const float inverse = scale.inverse();
  for (int64_t i = canComputeQuads() ? roundVectors(from, to, count, scale) : 0; i < count; ++i)
    to[i] = inverse == 0 ? 0 : rounded(from[i] * inverse, scale);
}

} // namespace ingot::gemm
