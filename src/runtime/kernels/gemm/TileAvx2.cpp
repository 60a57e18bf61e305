// The tile for CPUs whose registers hold eight floats: it is computed in parts of at most six rows by 16 columns, whose sums are in
// twelve of the sixteen registers.
#include "runtime/kernels/gemm/TileAvx2.h"

#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/gemm/Activate.h"

#if defined(__x86_64__)

#include <algorithm>
#include <array>

namespace ingot::gemm {
namespace {

constexpr int64_t kLanes = 8, kVectors = 2, kPartColumns = kVectors * kLanes;
constexpr int64_t kPartRows = 6;
constexpr int64_t kLine = 64;
/// Steps of depth after which the panel's line is needed.
constexpr int64_t kNear = 8;

/// Which part of a tile.
struct Part {
  int64_t row = 0, column = 0;
  /// Of several parts one fetches what is needed soon.
  bool fetches() const { return row == 0 && column == 0; }
};

INGOT_AVX2 __m256i firstOf(int64_t count) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(std::clamp<int64_t>(count, 0, kLanes))), lane);
}

const float *rowOf(const Tile &tile, int64_t row) {
  return tile.a + row * tile.aStride + (row >= kHalfTile ? tile.aJump : 0);
}

template <int Rows> INGOT_AVX2 void store(const __m256 (&sums)[Rows][kVectors], const Tile &tile, Part part) {
  const __m256 floor = _mm256_set1_ps(tile.floor), ceiling = _mm256_set1_ps(tile.ceiling);
#pragma unroll
  for (int64_t v = 0; v < kVectors; ++v) {
    const int64_t column = part.column + v * kLanes;
    const __m256i stored = firstOf(tile.columns - column);
#pragma unroll
    for (int64_t i = 0; i < Rows; ++i) {
      const int64_t at = (part.row + i) * tile.outStride + column;
      __m256 sum = sums[i][v];
      if (tile.added)
        sum = _mm256_add_ps(sum, _mm256_maskload_ps(tile.added + at, stored));
      // A NaN is neither below the floor nor above the ceiling: min and max give their second operand then.
      _mm256_maskstore_ps(tile.out + at, stored, _mm256_min_ps(ceiling, _mm256_max_ps(floor, sum)));
    }
  }
}

/// One element of depth, `k` of it.
template <int Rows>
INGOT_AVX2 inline __attribute__((always_inline)) void
addStep(__m256 (&sums)[Rows][kVectors], const float *const (&rows)[Rows], int64_t k, const float *b) {
  const __m256 first = _mm256_loadu_ps(b), second = _mm256_loadu_ps(b + kLanes);
  _mm_prefetch(reinterpret_cast<const char *>(b + kNear * kPanel), _MM_HINT_T0);
#pragma unroll
  for (int64_t i = 0; i < Rows; ++i) {
    const __m256 x = _mm256_broadcast_ss(rows[i] + k);
    sums[i][0] = _mm256_fmadd_ps(x, first, sums[i][0]);
    sums[i][1] = _mm256_fmadd_ps(x, second, sums[i][1]);
  }
}

template <int Rows> INGOT_AVX2 void computePart(const Tile &tile, Part part) {
  __m256 sums[Rows][kVectors];
#pragma unroll
  for (int64_t i = 0; i < Rows; ++i)
#pragma unroll
    for (int64_t v = 0; v < kVectors; ++v)
      sums[i][v] = _mm256_loadu_ps(tile.start + part.column + v * kLanes);
  const float *b = tile.panel + part.column;
  const char *ahead = tile.ahead;
  const int64_t aheadLines = part.fetches() ? tile.aheadLines : 0;
  for (const int64_t tap : tile.taps) {
    const float *rows[Rows];
#pragma unroll
    for (int64_t i = 0; i < Rows; ++i)
      rows[i] = rowOf(tile, part.row + i) + tap;
    int64_t k = 0;
    for (; k + kAheadSteps <= tile.depth; k += kAheadSteps) {
      for (int64_t line = 0; line < aheadLines; ++line, ahead += kLine)
        _mm_prefetch(ahead, _MM_HINT_T1);
// Unrolled, the addresses of several steps would not fit the registers.
#pragma clang loop unroll(disable)
      for (int64_t step = 0; step < kAheadSteps; ++step, b += kPanel)
        addStep<Rows>(sums, rows, k + step, b);
    }
    for (; k < tile.depth; ++k, b += kPanel)
      addStep<Rows>(sums, rows, k, b);
  }
  store<Rows>(sums, tile, part);
}

using PartFunction = void (*)(const Tile &, Part);
constexpr std::array<PartFunction, kPartRows> kParts = {computePart<1>, computePart<2>, computePart<3>,
                                                        computePart<4>, computePart<5>, computePart<6>};

} // namespace

bool avx2::isThere() {
  static const bool is = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return is;
}

void avx2::computeTile(const Tile &tile, int64_t rows) {
  const int64_t parts = (rows + kPartRows - 1) / kPartRows;
  for (int64_t column = 0; column < tile.columns; column += kPartColumns)
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = rows * part / parts, end = rows * (part + 1) / parts;
      kParts[static_cast<size_t>(end - begin - 1)](tile, {begin, column});
    }
  for (int64_t row = 0; tile.isSilu && row < rows; ++row)
    activateAll(Activation::Silu, tile.out + row * tile.outStride, tile.columns);
}

} // namespace ingot::gemm

#endif
