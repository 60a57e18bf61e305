// The code of a tile, for files that say which instructions it may use: INGOT_TILE marks a function for them, INGOT_TILE_INLINE
// one that becomes part of its caller, multiplyAdd(x, y, sums) is the multiplication, started(tile, vector) is
// what sums begin with, and finished(sums, tile, row, vector) what they become.
#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/gemm/Tile.h"

#include <array>
#include <utility>

namespace ingot::gemm {
namespace {

using avx512::firstOf;
using avx512::kLanes;
using avx512::limited;

constexpr int64_t kLine = 64;
/// Steps of depth after which the panel's line is needed: the distance from the second to the first cache.
constexpr int64_t kNear = 12;
constexpr size_t kUnrolled = 4;

/// One register for every 16 columns that count: the last panel of a matrix may have no more.
template <int Rows, int Vectors> struct Sums {
  __m512 of[Rows][Vectors];
};

/// Where the rows are. Every one is an address that an instruction computes by itself: another addition for each load would
/// take its turn from the multiplications where two threads share a core.
template <bool jumps> struct RowAddresses {
  const char *first, *second, *late, *afterLate; ///< rows 0 and 1; 10, or 7 and 8 where these lie elsewhere
  int64_t one, three;                            ///< bytes from row to row, and three of them

  explicit INGOT_TILE_INLINE RowAddresses(const Tile &tile)
      : one(tile.aStride * static_cast<int64_t>(sizeof(float))), three(3 * one) {
    moveTo(tile, tile.a);
  }

  INGOT_TILE_INLINE void moveTo(const Tile &tile, const float *a) {
    first = reinterpret_cast<const char *>(a);
    second = first + one;
    late = jumps ? reinterpret_cast<const char *>(a + tile.aJump + kHalfTile * tile.aStride) : first + 10 * one;
    afterLate = jumps ? late + one : nullptr;
  }

  /// Keeps the compiler from making other addresses of these.
  INGOT_TILE_INLINE void pin() {
    asm volatile("" : "+r"(first), "+r"(second), "+r"(late), "+r"(one), "+r"(three));
    if constexpr (jumps)
      asm volatile("" : "+r"(afterLate));
  }

  INGOT_TILE_INLINE void advance(int64_t elements) {
    const int64_t bytes = elements * static_cast<int64_t>(sizeof(float));
    first += bytes, second += bytes, late += bytes;
    if constexpr (jumps)
      afterLate += bytes;
  }

  template <size_t row> INGOT_TILE_INLINE const char *at() const {
    if constexpr (jumps && row >= kHalfTile)
      return from<row - kHalfTile>(late, afterLate);
    else if constexpr (row == 10 || row == 11)
      return late + (row - 10) * one;
    else
      return from<row>(first, second);
  }

private:
  template <size_t row> INGOT_TILE_INLINE const char *from(const char *zero, const char *next) const {
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

template <size_t row, size_t step, int Rows, int Vectors, bool jumps>
INGOT_TILE_INLINE void addRow(Sums<Rows, Vectors> &sums, const RowAddresses<jumps> &rows,
                              const __m512 (&columns)[Vectors]) {
  const __m512 x = _mm512_set1_ps(reinterpret_cast<const float *>(rows.template at<row>())[step]);
#pragma unroll
  for (int v = 0; v < Vectors; ++v)
    sums.of[row][v] = multiplyAdd(x, columns[v], sums.of[row][v]);
}

template <size_t step, int Rows, int Vectors, bool jumps, size_t... row>
INGOT_TILE_INLINE void addStep(Sums<Rows, Vectors> &sums, const RowAddresses<jumps> &rows, const float *b,
                               std::index_sequence<row...>) {
  __m512 columns[Vectors];
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
    const float *at = b + step * kPanel + v * kLanes;
    columns[v] = _mm512_loadu_ps(at);
    _mm_prefetch(reinterpret_cast<const char *>(at + kNear * kPanel), _MM_HINT_T0);
  }
  (addRow<row, step>(sums, rows, columns), ...);
}

/// Elements of depth, one after the other.
template <int Rows, int Vectors, bool jumps, size_t... step>
INGOT_TILE_INLINE void addSteps(Sums<Rows, Vectors> &sums, RowAddresses<jumps> &rows, const float *&b,
                                std::index_sequence<step...>) {
  rows.pin();
  (addStep<step>(sums, rows, b, std::make_index_sequence<Rows>()), ...);
  rows.advance(sizeof...(step));
  b += sizeof...(step) * kPanel;
}

template <int Rows, int Vectors> INGOT_TILE_INLINE void store(Sums<Rows, Vectors> &sums, const Tile &tile) {
  const __m512 floor = _mm512_set1_ps(tile.floor), ceiling = _mm512_set1_ps(tile.ceiling);
  const __mmask16 stored[2] = {firstOf(tile.columns), firstOf(tile.columns - kLanes)};
  if (tile.added) {
#pragma unroll
    for (int i = 0; i < Rows; ++i)
#pragma unroll
      for (int v = 0; v < Vectors; ++v) {
        const float *added = tile.added + i * tile.outStride + v * kLanes;
        sums.of[i][v] = _mm512_add_ps(sums.of[i][v], _mm512_maskz_loadu_ps(stored[v], added));
      }
  }
  if (tile.isSilu) {
#pragma unroll
    for (int i = 0; i < Rows; ++i)
#pragma unroll
      for (int v = 0; v < Vectors; ++v)
        sums.of[i][v] = avx512::silu(sums.of[i][v]);
  }
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
      float *out = tile.out + i * tile.outStride + v * kLanes;
      _mm512_mask_storeu_ps(out, stored[v], limited(sums.of[i][v], floor, ceiling));
    }
}

/// Most tiles do not jump, and have fewer addresses to compute.
template <int Rows, int Vectors = 2, bool jumps = false> INGOT_TILE void compute(const Tile &tile) {
  Sums<Rows, Vectors> sums;
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int v = 0; v < Vectors; ++v)
      sums.of[i][v] = started(tile, v);
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
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int v = 0; v < Vectors; ++v)
      sums.of[i][v] = finished(sums.of[i][v], tile, i, v);
  store(sums, tile);
}

using TileFunction = void (*)(const Tile &);

template <int Vectors, size_t... I>
constexpr std::array<TileFunction, sizeof...(I)> tileFunctions(std::index_sequence<I...>) {
  return {compute<static_cast<int>(I) + 1, Vectors>...};
}

inline void computeRows(const Tile &tile, int64_t rows) {
  static constexpr auto wide = tileFunctions<2>(std::make_index_sequence<kTileRows>());
  static constexpr auto narrow = tileFunctions<1>(std::make_index_sequence<kTileRows>());
  if (tile.aJump != 0)
    return compute<kTileRows, 2, true>(tile);
  (tile.columns <= kLanes ? narrow : wide)[static_cast<size_t>(rows - 1)](tile);
}

} // namespace
} // namespace ingot::gemm
