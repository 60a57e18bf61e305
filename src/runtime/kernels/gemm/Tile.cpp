#include "runtime/kernels/gemm/Tile.h"

#include "runtime/kernels/elementwise/Avx512.h"

#if defined(__x86_64__)
#include <array>
#include <utility>
#endif

namespace ingot::gemm {

#if defined(__x86_64__)

namespace {

using avx512::firstOf;
using avx512::kLanes;
using avx512::limited;

constexpr int64_t kLine = 64;
/// Steps of depth after which the panel's line is needed: the distance from the second to the first cache.
constexpr int64_t kNear = 12;

template <int Rows> struct Sums {
  __m512 low[Rows], high[Rows];
};

template <int Rows, bool jumps>
INGOT_AVX512_INLINE void addStep(Sums<Rows> &sums, const float *a, int64_t stride, int64_t jump, const float *b) {
  const __m512 low = _mm512_loadu_ps(b), high = _mm512_loadu_ps(b + kLanes);
  _mm_prefetch(reinterpret_cast<const char *>(b + kNear * kPanel), _MM_HINT_T0);
  _mm_prefetch(reinterpret_cast<const char *>(b + kNear * kPanel + kLanes), _MM_HINT_T0);
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    const __m512 x = _mm512_set1_ps((jumps && i >= kHalfTile ? a + jump : a)[i * stride]);
    sums.low[i] = _mm512_fmadd_ps(x, low, sums.low[i]);
    sums.high[i] = _mm512_fmadd_ps(x, high, sums.high[i]);
  }
}

template <int Rows> INGOT_AVX512_INLINE void store(Sums<Rows> &sums, const Tile &tile) {
  const __mmask16 low = firstOf(tile.columns), high = firstOf(tile.columns - kLanes);
  const __m512 floor = _mm512_set1_ps(tile.floor), ceiling = _mm512_set1_ps(tile.ceiling);
  if (tile.added) {
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      const float *added = tile.added + i * tile.outStride;
      sums.low[i] = _mm512_add_ps(sums.low[i], _mm512_maskz_loadu_ps(low, added));
      sums.high[i] = _mm512_add_ps(sums.high[i], _mm512_maskz_loadu_ps(high, added + kLanes));
    }
  }
  if (tile.isSilu) {
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      sums.low[i] = avx512::silu(sums.low[i]);
      sums.high[i] = avx512::silu(sums.high[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    float *out = tile.out + i * tile.outStride;
    _mm512_mask_storeu_ps(out, low, limited(sums.low[i], floor, ceiling));
    _mm512_mask_storeu_ps(out + kLanes, high, limited(sums.high[i], floor, ceiling));
  }
}

/// Most tiles do not jump, and have fewer addresses to compute.
template <int Rows, bool jumps = false> INGOT_AVX512 void compute(const Tile &tile) {
  Sums<Rows> sums;
  const __m512 low = _mm512_loadu_ps(tile.start), high = _mm512_loadu_ps(tile.start + kLanes);
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    sums.low[i] = low;
    sums.high[i] = high;
  }
  const float *b = tile.panel;
  const char *ahead = tile.ahead;
  const int64_t stride = tile.aStride;
  for (const int64_t tap : tile.taps) {
    const float *a = tile.a + tap;
    int64_t k = 0;
    for (; k + kAheadSteps <= tile.depth; k += kAheadSteps) {
      for (int64_t line = 0; line < tile.aheadLines; ++line, ahead += kLine)
        _mm_prefetch(ahead, _MM_HINT_T1);
      for (const float *end = a + kAheadSteps; a != end; ++a, b += kPanel)
        addStep<Rows, jumps>(sums, a, stride, tile.aJump, b);
    }
    for (; k < tile.depth; ++k, ++a, b += kPanel)
      addStep<Rows, jumps>(sums, a, stride, tile.aJump, b);
  }
  store<Rows>(sums, tile);
}

using TileFunction = void (*)(const Tile &);

template <size_t... I> constexpr std::array<TileFunction, sizeof...(I)> tileFunctions(std::index_sequence<I...>) {
  return {compute<static_cast<int>(I) + 1>...};
}

} // namespace

bool canComputeTiles() { return avx512::isThere(); }

void computeTile(const Tile &tile, int64_t rows) {
  if (tile.aJump != 0)
    return compute<kTileRows, true>(tile);
  static constexpr auto functions = tileFunctions(std::make_index_sequence<kTileRows>());
  functions[static_cast<size_t>(rows - 1)](tile);
}

#else

bool canComputeTiles() { return false; }
void computeTile(const Tile &, int64_t) {}

#endif

} // namespace ingot::gemm
