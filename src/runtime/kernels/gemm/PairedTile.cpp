// Tiles of bfloat16: an element of a row, and one of a panel, is a pair of neighbours in depth, and an instruction multiplies both.
#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/elementwise/Float16.h"
#include "runtime/kernels/gemm/Pairs.h"
#include "runtime/kernels/gemm/Tile.h"

#if defined(__x86_64__)

#define INGOT_TILE __attribute__((target("avx512f,avx512vl,fma,avx512bf16")))
#define INGOT_TILE_INLINE INGOT_TILE inline __attribute__((always_inline))

namespace ingot::gemm {
namespace {

INGOT_TILE_INLINE __m512 multiplyAdd(__m512 x, __m512 y, __m512 sums) {
  return _mm512_dpbf16_ps(sums, __m512bh(x), __m512bh(y));
}
INGOT_TILE_INLINE __m512 started(const Tile &tile, int vector) {
  return _mm512_loadu_ps(tile.start + vector * avx512::kLanes);
}
INGOT_TILE_INLINE __m512 finished(__m512 sums, const Tile &, int, int) { return sums; }

/// As many as fill registers; returns how many.
INGOT_TILE int64_t roundVectors(const float *from, uint16_t *to, int64_t count) {
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m512bh rounded = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + i + 16), _mm512_loadu_ps(from + i));
    _mm512_storeu_si512(to + i, __m512i(rounded));
  }
  return i;
}

} // namespace
} // namespace ingot::gemm

#include "runtime/kernels/gemm/TileBody.h"

namespace ingot::gemm {

bool canComputePairs() {
  static const bool can = avx512::isThere() && __builtin_cpu_supports("avx512bf16");
  return can;
}

void computePairedTile(const Tile &tile, int64_t rows) { computeRows(tile, rows); }

void roundToBFloat16(const float *from, uint16_t *to, int64_t count) {
  for (int64_t i = canComputePairs() ? roundVectors(from, to, count) : 0; i < count; ++i)
    to[i] = bits::toBFloat16(from[i]);
}

} // namespace ingot::gemm

#else

namespace ingot::gemm {

bool canComputePairs() { return false; }
void computePairedTile(const Tile &, int64_t) {}
void roundToBFloat16(const float *from, uint16_t *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = bits::toBFloat16(from[i]);
}

} // namespace ingot::gemm

#endif
