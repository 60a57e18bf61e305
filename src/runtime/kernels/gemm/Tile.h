// The innermost piece of a matrix product: some rows times 32 columns, all in registers. Convolutions use it too: their
// rows are pixels, and each tap of the kernel reads the same rows somewhere else.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace ingot::gemm {

/// Columns of a panel: two registers of the widest kind.
inline constexpr int64_t kPanel = 32;
/// Rows of a tile at most: 28 registers hold its sums.
inline constexpr int64_t kTileRows = 14;
inline constexpr int64_t kHalfTile = kTileRows / 2;

/// Whether rows that are so many elements apart fall into the same few places of the first-level cache, and what is added to the distance of
/// copies then.
constexpr bool areAliased(int64_t stride) { return stride % (4096 / static_cast<int64_t>(sizeof(float))) == 0; }
inline constexpr int64_t kApart = 16;

/// What sums of integers become floats with.
struct QuadFactors {
  const float *rowScales = nullptr, *columnScales = nullptr;
  const int32_t *rowZeros = nullptr, *columnSums = nullptr;
};

struct Tile {
  const float *a = nullptr;      ///< first row
  int64_t aStride = 0;           ///< from row to row
  int64_t aJump = 0;             ///< what is added from row kHalfTile on; not 0 in whole tiles only
  std::span<const int64_t> taps; ///< what is added to `a`, one product after the other
  int64_t depth = 0;             ///< elements of a row that one tap reads
  const float *panel = nullptr;  ///< [taps * depth][32]
  const float *start = nullptr;  ///< 32 numbers that the sums begin with; added to them in tiles of quads
  QuadFactors quads;             ///< in tiles of quads
  float *out = nullptr;
  int64_t outStride = 0;
  int64_t columns = kPanel;                              ///< that are stored
  const float *added = nullptr;                          ///< what is added to the sums, as `out` lies; null: nothing
  float floor = -std::numeric_limits<float>::infinity(); ///< what is stored is between these, or NaN
  float ceiling = std::numeric_limits<float>::infinity();
  bool isSilu = false;         ///< x * sigmoid(x) of the sums is stored
  const char *ahead = nullptr; ///< memory that is needed soon: fetched on the way
  int64_t aheadLines = 0;      ///< lines of it for every kAheadSteps elements of depth
};

inline constexpr int64_t kAheadSteps = 8;

/// Whether this CPU has what computeTile needs.
bool canComputeTiles();

/// `rows` from 1 to kTileRows.
void computeTile(const Tile &tile, int64_t rows);

} // namespace ingot::gemm
