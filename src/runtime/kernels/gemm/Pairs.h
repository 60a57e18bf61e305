// Products of bfloat16, two at a time: rows and panels consist of pairs of elements that are neighbours in depth. Pairs are addressed as if
// they were floats, and all sizes and distances count them.
#pragma once

#include "base/DType.h"
#include "runtime/kernels/gemm/Tile.h"

namespace ingot::gemm {

/// Whether this CPU has what computePairedTile needs.
bool canComputePairs();

/// As computeTile, of pairs.
void computePairedTile(const Tile &tile, int64_t rows);

constexpr int64_t pairsOf(int64_t elements) { return (elements + 1) / 2; }

/// To nearest, ties to even, on this thread.
void roundToBFloat16(const float *from, uint16_t *to, int64_t count);

/// Two rows of 32 floats become one of pairs.
void pairRows(const float *even, const float *odd, float *to);

/// Rows that are copied as pairs.
struct PairedRows {
  int64_t rows = 0, depth = 0;  ///< in elements
  int64_t from = 0;             ///< elements from row to row of the original
  int64_t to = 0;               ///< pairs from row to row of the copy
  DType dtype = DType::Float32; ///< of the original; or bfloat16

  PairedRows(DType dtype, int64_t rows, int64_t depth, int64_t stride);
  /// Floats that the copy takes.
  int64_t size() const { return rows * to; }
  /// On all threads.
  void copy(const void *source, float *pairs) const;
};

} // namespace ingot::gemm
