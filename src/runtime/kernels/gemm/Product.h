// Rows times panels, with what follows the product: bias, activation, and a tensor that is added.
#pragma once

#include "runtime/kernels/gemm/Panels.h"
#include "runtime/kernels/matmul/Activation.h"

namespace ingot::gemm {

/// What happens to sums before they are stored.
struct Finish {
  const float *bias = nullptr; ///< one number for each column
  Activation activation = Activation::None;
  const float *added = nullptr; ///< as the output lies
  bool addsBeforeActivation = false;
};

/// Rows that lie evenly; a tile or less.
struct RowBlock {
  const float *a = nullptr;
  int64_t stride = 0, rows = 0;
  int64_t outRow = 0;
  int64_t jump = 0; ///< what is added from row kHalfTile on
};

/// What all tiles of one product have in common.
struct Product {
  PanelView panels;
  std::span<const int64_t> taps;
  int64_t depth = 0; ///< of one tap
  float *out = nullptr;
  int64_t outStride = 0;
  Finish finish;
  int64_t firstColumn = 0; ///< which `out` begins with
  /// Of quads: the scales and zeros of all rows of the output.
  const float *rowScales = nullptr;
  const int32_t *rowZeros = nullptr;
};

/// Rows of which all panels are computed together: what they read should stay in the second-level cache.
inline constexpr int64_t kBlocks = 64;

/// At most kBlocks blocks times the panels [begin, end).
void multiply(const Product &product, std::span<const RowBlock> blocks, int64_t begin, int64_t end);

/// How a product is divided: chunks of rows, and groups of panels for every chunk.
struct Division {
  int64_t chunks = 1, groups = 1;
};

/// `rowBytes` is what one row reads; `panelBytes` what one panel has.
Division divide(int64_t rows, int64_t rowBytes, int64_t panels, int64_t panelBytes);

/// A matrix by its rows, of which [begin, end) count.
struct Rows {
  const float *a = nullptr;
  int64_t stride = 0, begin = 0, end = 0;
};

/// Rows times the panels [firstPanel, lastPanel), on this thread.
void multiplyRows(const Product &product, const Rows &rows, int64_t firstPanel, int64_t lastPanel);

/// Rows times all panels, on all threads.
void multiplyMatrix(const Product &product, const Rows &rows);

} // namespace ingot::gemm
