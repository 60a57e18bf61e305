// The average of whole images of float32, channels-last: sums of some channels stay in registers.
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/pool/Pool.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

constexpr int64_t kLanes = 16;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
/// Pixels that are added up before their sum is added to others, which keeps rounding errors small.
constexpr int64_t kStrip = 256;
/// Elements that one thread reads sooner than it wakes another.
constexpr int64_t kSmall = 16384;

/// Pixels one after the other, `stride` elements apart.
struct Pixels {
  const float *x;
  int64_t stride, count;
};

/// The sums of `registers * kLanes` channels.
template <int registers> __attribute__((always_inline)) inline void sumStrips(const Pixels &pixels, float *sums) {
  Lanes total[registers] = {};
  for (int64_t first = 0; first < pixels.count; first += kStrip) {
    Lanes part[registers] = {};
    const float *x = pixels.x + first * pixels.stride;
    for (int64_t i = std::min(kStrip, pixels.count - first); i > 0; --i, x += pixels.stride)
#pragma unroll
      for (int j = 0; j < registers; ++j) {
        Lanes value;
        std::memcpy(&value, x + j * kLanes, sizeof(value));
        part[j] += value;
      }
    for (int j = 0; j < registers; ++j)
      total[j] += part[j];
  }
  std::memcpy(sums, total, sizeof(total));
}

INGOT_SIMD void sumChannels(Pixels pixels, float *sums, int64_t channels) {
  int64_t c = 0;
  const float *x = pixels.x;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) {
    pixels.x = x + c;
    sumStrips<4>(pixels, sums + c);
  }
  for (; c + kLanes <= channels; c += kLanes) {
    pixels.x = x + c;
    sumStrips<1>(pixels, sums + c);
  }
  for (; c < channels; ++c) {
    double sum = 0;
    for (int64_t i = 0; i < pixels.count; ++i)
      sum += static_cast<double>(x[i * pixels.stride + c]);
    sums[c] = static_cast<float>(sum);
  }
}

class GlobalAvgPool final : public BoundKernel {
public:
  explicit GlobalAvgPool(const PixelAverage &average) : average(average) {}

  Status run(const KernelArgs &args) const override {
    averagePixels(static_cast<const float *>(args.operands[0]), static_cast<float *>(args.results[0]), average);
    return {};
  }

private:
  PixelAverage average;
};

bool isWhole(const PoolProblem &problem, size_t dim) {
  if (problem.out[dim] != 1)
    return false;
  const PoolWindow &window = problem.windows[dim][0];
  return window.first == 0 && window.count == problem.in[dim] && window.padded == window.count &&
         (window.step == 1 || window.count == 1);
}

} // namespace

void averagePixels(const float *x, float *result, const PixelAverage &average) {
  const auto [batch, pixels, channels, divisor] = average;
  if (batch == 0 || channels == 0) // then nobody has checked how many pixels there are
    return;
  const int64_t blocks = (channels + kLanes - 1) / kLanes;
  parallelFor(0, batch * blocks, std::max<int64_t>(1, kSmall / (kLanes * pixels)), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t image = begin / blocks, next = std::min(end, (image + 1) * blocks);
      const int64_t first = begin % blocks * kLanes;
      const int64_t count = std::min(channels, (next - image * blocks) * kLanes) - first;
      float *sums = result + image * channels + first;
      sumChannels({x + image * pixels * channels + first, channels, pixels}, sums, count);
      for (int64_t i = 0; i < count; ++i)
        sums[i] /= divisor;
      begin = next;
    }
  });
}

std::unique_ptr<BoundKernel> makeGlobalAvgPool(const PoolProblem &problem) {
  const PoolProblem::Strides in = problem.stridesOf(problem.x);
  int64_t pixels = 1;
  for (size_t dim : {2, 1, 0}) {
    if (!isWhole(problem, dim) || (problem.in[dim] > 1 && in.spatial[dim] != pixels * problem.channels))
      return nullptr;
    pixels *= problem.in[dim];
  }
  const bool isDense = problem.channels == 1 || in.channel == 1;
  if (!isDense || pixels == 0 || (problem.batch > 1 && in.batch != pixels * problem.channels))
    return nullptr;
  return std::make_unique<GlobalAvgPool>(
      PixelAverage{problem.batch, pixels, problem.channels, static_cast<float>(problem.divisorFor(pixels, pixels))});
}

} // namespace ingot
