// Pooling: windows over the spatial dimensions, made once for each dimension.
#pragma once

#include "runtime/kernels/elementwise/Checks.h"

#include <array>

namespace ingot {

using Triple = std::array<int64_t, 3>;

/// The input positions first, first + step, … (`count` of them) that one result position reads.
struct PoolWindow {
  int64_t first = 0, count = 0, step = 1;
  int64_t padded = 0; ///< positions counting those in the padding
};

/// A pooling step after its checks. Missing spatial dimensions have size 1.
struct PoolProblem {
  TensorDesc x, result;
  size_t spatialRank = 0;
  int64_t batch = 1, channels = 1;
  Triple in{1, 1, 1}, out{1, 1, 1};
  std::array<std::vector<PoolWindow>, 3> windows;
  bool includePadding = true;
  int64_t divisor = 0;

  struct Strides {
    int64_t batch = 0, channel = 0;
    Triple spatial{};
  };
  Strides stridesOf(const TensorDesc &desc) const;

  /// Divides the sum over a window of `read` elements, `padded` counting the padding.
  double divisorFor(int64_t read, int64_t padded) const {
    return static_cast<double>(divisor != 0 ? divisor : includePadding ? padded : read);
  }
};

Result<PoolProblem> maxPoolProblem(const StepContext &context);
Result<PoolProblem> avgPoolProblem(const StepContext &context);
Result<PoolProblem> adaptivePoolProblem(const StepContext &context);
Result<PoolProblem> adaptiveMaxPoolProblem(const StepContext &context);

/// Loops with channels inside, for channels-last float32 only.
std::unique_ptr<BoundKernel> makeFastMaxPool(PoolProblem problem);
std::unique_ptr<BoundKernel> makeFastAvgPool(PoolProblem problem);
/// Sums of the pixels of images of float32, channels-last, divided; there are pixels.
struct PixelAverage {
  int64_t batch, pixels, channels;
  float divisor;
};
void averagePixels(const float *x, float *result, const PixelAverage &average);
/// The same for averages of whole images; null where windows are smaller.
std::unique_ptr<BoundKernel> makeGlobalAvgPool(const PoolProblem &problem);
/// For row-major float32 with at most two spatial dimensions; null for others.
std::unique_ptr<BoundKernel> makePlanarMaxPool(const PoolProblem &problem);
std::unique_ptr<BoundKernel> makePlanarAvgPool(const PoolProblem &problem);
/// Any type and strides.
Result<std::unique_ptr<BoundKernel>> makeReferenceMaxPool(PoolProblem problem);
Result<std::unique_ptr<BoundKernel>> makeReferenceAvgPool(PoolProblem problem);

} // namespace ingot
