#pragma once

#include "runtime/kernels/gemm/Tile.h"

namespace ingot::gemm::avx2 {

/// Whether this CPU has what computeTile of this namespace needs.
bool isThere();
/// `rows` from 1 to kTileRows.
void computeTile(const Tile &tile, int64_t rows);

} // namespace ingot::gemm::avx2
