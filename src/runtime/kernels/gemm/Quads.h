// Products of small integers, four at a time: rows and panels consist of quads of elements that are neighbours in depth, which are addressed
// as if they were floats. Elements of a row become 0 to 255, those of a column of a panel -127 to 127; what that makes of the sums is
// taken back when they are done.
#pragma once

#include "runtime/kernels/gemm/Tile.h"

namespace ingot::gemm {

/// Whether this CPU has what computeQuadTile needs.
bool canComputeQuads();

/// As computeTile, of quads.
void computeQuadTile(const Tile &tile, int64_t rows);

constexpr int64_t quadsOf(int64_t elements) { return (elements + 3) / 4; }

/// Sums of more could leave 32 bits.
inline constexpr int64_t kMostQuadDepth = int64_t(1) << 16;

/// How far elements go from 0 to both sides, as the bits of floats, of which larger ones have larger bits.
struct QuadRange {
  uint32_t above = 0, below = 0;

  /// Of elements, on this thread.
  static QuadRange of(const float *elements, int64_t count);
};

/// An element is (integer - zero) * scale. Where one is infinite or NaN, the scale is NaN, and so is every result.
struct QuadScale {
  float scale = 0;
  int32_t zero = 0;

  /// Of a row, whose zero is exact.
  static QuadScale of(QuadRange range);
  /// What elements are multiplied by.
  float inverse() const { return scale > 0 ? 1 / scale : 0; }
};

/// To nearest, ties to even; on this thread.
void roundToQuads(const float *from, uint8_t *to, int64_t count, QuadScale scale);

/// A panel [depth][32] becomes quads; its columns' scales and sums.
void quadPanel(float *to, const float *panel, int64_t depth, float *scales, int32_t *sums);

/// Rows that are copied as quads. Behind them are their scales, then their zeros.
struct QuadRows {
  int64_t rows = 0, depth = 0; ///< in elements
  int64_t from = 0;            ///< elements from row to row of the original
  int64_t to = 0;              ///< quads from row to row of the copy

  QuadRows(int64_t rows, int64_t depth, int64_t stride);
  /// Floats that the copy takes.
  int64_t size() const { return rows * (to + 2); }
  /// On all threads.
  void copy(const float *source, float *quads) const;
};

} // namespace ingot::gemm
