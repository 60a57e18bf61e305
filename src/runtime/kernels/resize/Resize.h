// Interpolation of the spatial dimensions. Each dimension has a table of the input positions and weights that
// every result position is made of.
#pragma once

#include "runtime/kernels/elementwise/Checks.h"

#include <array>

namespace ingot {

enum class ResizeMode : uint8_t { Nearest, NearestExact, Linear, Cubic };

/// `taps` input positions with their weights for each position of the result.
struct ResizeTable {
  size_t taps = 1;
  std::vector<int64_t> positions;
  std::vector<double> weights;
};

/// A resize step after its checks. Missing spatial dimensions have size 1.
struct ResizeProblem {
  TensorDesc x, result;
  ResizeMode mode = ResizeMode::Nearest;
  std::array<int64_t, 3> out{1, 1, 1};
  std::array<ResizeTable, 3> tables;

  struct Strides {
    int64_t batch = 0, channel = 0;
    std::array<int64_t, 3> spatial{};
  };
  static Strides stridesOf(const TensorDesc &desc);
};

/// PyTorch's rules for one dimension, in the arithmetic it uses for the type: double for float64, else float.
ResizeTable makeResizeTable(ResizeMode mode, bool alignCorners, double scale, int64_t in, int64_t out, bool isDouble);

/// Channels-last float32.
std::unique_ptr<BoundKernel> makeFastResize(ResizeProblem problem);
/// Any type and strides.
Result<std::unique_ptr<BoundKernel>> makeReferenceResize(ResizeProblem problem);

} // namespace ingot
