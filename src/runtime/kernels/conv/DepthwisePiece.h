// The innermost piece of a depthwise convolution of float32: some pixels of a row, sixteen channels a register.
#pragma once

#include "runtime/kernels/conv/Geometry.h"
#include "runtime/kernels/gemm/Activate.h"

#include <vector>

namespace ingot::depthwise {

/// Pixels that are computed together: what widths of images are mostly made of.
inline constexpr int64_t kPixels = 7;
/// Channels that are computed together, in two registers.
inline constexpr int64_t kBlock = 32;
inline constexpr float kZeros[kBlock] = {};

/// What is done to sums before they are stored.
enum class Finish : uint8_t { Limit, Silu, HardSwish };
/// Nothing where a piece cannot do it.
std::optional<Finish> finishOf(Activation activation);

/// Some pixels of one row of the result, of one block of channels.
struct Piece {
  const float *x = nullptr;       ///< of the first tap of the first pixel, which may lie beside the image
  const float *weights = nullptr; ///< [kernel height][kernel width][kBlock]
  const float *bias = nullptr;    ///< null: zeros
  float *out = nullptr;
  float *rowSums = nullptr;                   ///< kBlock, which what is stored is added to; null: nothing
  int64_t channels = kBlock;                  ///< of this block
  int64_t rowElements = 0;                    ///< from row to row of the input
  int64_t pixelElements = 0, outElements = 0; ///< from column to column of the input and the result
  int64_t firstTapRow = 0, tapRows = 0;       ///< rows of the kernel that lie in the image
  int64_t firstColumn = 0, columns = 0;       ///< column of `x` in the image, and how many it has
  int64_t pixels = kPixels;                   ///< that are stored
  gemm::Limits limits{};
  Finish finish = Finish::Limit;
};

/// All columns that are read lie in the image, or some do not.
struct Functions {
  void (*inside)(const Piece &) = nullptr;
  void (*atEdge)(const Piece &) = nullptr;
};

/// Null where the width of the kernel, or its stride, is none of those that are compiled, or the CPU has no AVX-512.
Functions functionsFor(int64_t width, int64_t stride);

/// [blocks of channels][kernel height][kernel width][kBlock], filled up with zeros.
std::vector<float> packFilters(const ConvProblem &problem, const Geometry &g);

} // namespace ingot::depthwise
