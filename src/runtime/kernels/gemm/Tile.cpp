#include "runtime/kernels/gemm/Tile.h"

#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/gemm/TileAvx2.h"

#if defined(__x86_64__)

#define INGOT_TILE INGOT_AVX512
#define INGOT_TILE_INLINE INGOT_AVX512_INLINE

namespace ingot::gemm {
namespace {

INGOT_TILE_INLINE __m512 multiplyAdd(__m512 x, __m512 y, __m512 sums) { return _mm512_fmadd_ps(x, y, sums); }
INGOT_TILE_INLINE __m512 started(const Tile &tile, int vector) {
  return _mm512_loadu_ps(tile.start + vector * avx512::kLanes);
}
INGOT_TILE_INLINE __m512 finished(__m512 sums, const Tile &, int, int) { return sums; }

} // namespace
} // namespace ingot::gemm

#include "runtime/kernels/gemm/TileBody.h"

namespace ingot::gemm {

bool canComputeTiles() { return avx512::isThere() || avx2::isThere(); }

void computeTile(const Tile &tile, int64_t rows) {
  if (avx512::isThere())
    return computeRows(tile, rows);
  avx2::computeTile(tile, rows);
}

} // namespace ingot::gemm

#else

namespace ingot::gemm {

bool canComputeTiles() { return false; }
void computeTile(const Tile &, int64_t) {}

} // namespace ingot::gemm

#endif
