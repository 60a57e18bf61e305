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
constexpr size_t kUnrolled = 4;

template <int Rows> struct Sums {
  __m512 low[Rows], high[Rows];
};

/// Where the rows are. Every one is an address that an instruction computes by itself: another addition for each load would
/// take its turn from the multiplications where two threads share a core.
template <bool jumps> struct RowAddresses {
  const char *first, *second, *late, *afterLate; ///< rows 0 and 1; 10, or 7 and 8 where these lie elsewhere
  int64_t one, three;                            ///< bytes from row to row, and three of them

  explicit INGOT_AVX512_INLINE RowAddresses(const Tile &tile)
      : one(tile.aStride * static_cast<int64_t>(sizeof(float))), three(3 * one) {
    moveTo(tile, tile.a);
  }

  INGOT_AVX512_INLINE void moveTo(const Tile &tile, const float *a) {
    first = reinterpret_cast<const char *>(a);
    second = first + one;
    late = jumps ? reinterpret_cast<const char *>(a + tile.aJump + kHalfTile * tile.aStride) : first + 10 * one;
    afterLate = jumps ? late + one : nullptr;
  }

  /// Keeps the compiler from making other addresses of these.
  INGOT_AVX512_INLINE void pin() {
    asm volatile("" : "+r"(first), "+r"(second), "+r"(late), "+r"(one), "+r"(three));
    if constexpr (jumps)
      asm volatile("" : "+r"(afterLate));
  }

  INGOT_AVX512_INLINE void advance(int64_t elements) {
    const int64_t bytes = elements * static_cast<int64_t>(sizeof(float));
    first += bytes, second += bytes, late += bytes;
    if constexpr (jumps)
      afterLate += bytes;
  }

  template <size_t row> INGOT_AVX512_INLINE const char *at() const {
    if constexpr (jumps && row >= kHalfTile)
      return from<row - kHalfTile>(late, afterLate);
    else if constexpr (row == 10 || row == 11)
      return late + (row - 10) * one;
    else
      return from<row>(first, second);
  }

private:
  template <size_t row> INGOT_AVX512_INLINE const char *from(const char *zero, const char *next) const {
    if constexpr (row == 0 || row == 1 || row == 2 || row == 4 || row == 8)
      return zero + row * one;
    else if constexpr (row == 5 || row == 9)
      return next + (row - 1) * one;
    else if constexpr (row % 3 == 0)
      return zero + row / 3 * three;
    else
      return next + row / 3 * three;
  }
};

template <size_t row, size_t step, int Rows, bool jumps>
INGOT_AVX512_INLINE void addRow(Sums<Rows> &sums, const RowAddresses<jumps> &rows, __m512 low, __m512 high) {
  const __m512 x = _mm512_set1_ps(reinterpret_cast<const float *>(rows.template at<row>())[step]);
  sums.low[row] = _mm512_fmadd_ps(x, low, sums.low[row]);
  sums.high[row] = _mm512_fmadd_ps(x, high, sums.high[row]);
}

template <size_t step, int Rows, bool jumps, size_t... row>
INGOT_AVX512_INLINE void addStep(Sums<Rows> &sums, const RowAddresses<jumps> &rows, const float *b,
                                 std::index_sequence<row...>) {
  b += step * kPanel;
  const __m512 low = _mm512_loadu_ps(b), high = _mm512_loadu_ps(b + kLanes);
  _mm_prefetch(reinterpret_cast<const char *>(b + kNear * kPanel), _MM_HINT_T0);
  _mm_prefetch(reinterpret_cast<const char *>(b + kNear * kPanel + kLanes), _MM_HINT_T0);
  (addRow<row, step>(sums, rows, low, high), ...);
}

/// Elements of depth, one after the other.
template <int Rows, bool jumps, size_t... step>
INGOT_AVX512_INLINE void addSteps(Sums<Rows> &sums, RowAddresses<jumps> &rows, const float *&b,
                                  std::index_sequence<step...>) {
  rows.pin();
  (addStep<step>(sums, rows, b, std::make_index_sequence<Rows>()), ...);
  rows.advance(sizeof...(step));
  b += sizeof...(step) * kPanel;
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
  RowAddresses<jumps> rows(tile);
  for (const int64_t tap : tile.taps) {
    rows.moveTo(tile, tile.a + tap);
    int64_t k = 0;
    for (; k + kAheadSteps <= tile.depth; k += kAheadSteps) {
      for (int64_t line = 0; line < tile.aheadLines; ++line, ahead += kLine)
        _mm_prefetch(ahead, _MM_HINT_T1);
      for (int64_t i = 0; i < kAheadSteps; i += kUnrolled)
        addSteps(sums, rows, b, std::make_index_sequence<kUnrolled>());
    }
    for (; k < tile.depth; ++k)
      addSteps(sums, rows, b, std::make_index_sequence<1>());
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
