// Pooling of channels-last float32: the inner loops run over channels, which lie together.
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/kernels/pool/Pool.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <limits>

namespace ingot {
namespace {

/// Channels kept in registers and the first-level cache while a window is read.
constexpr int64_t kBlock = 128;

INGOT_SIMD void maxRow(float *__restrict best, int32_t *__restrict index, const float *__restrict x, int32_t position,
                       int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const bool isLarger = (x[i] > best[i]) | (x[i] != x[i]);
    best[i] = isLarger ? x[i] : best[i];
    index[i] = isLarger ? position : index[i];
  }
}

INGOT_SIMD void maxRowOnly(float *__restrict best, const float *__restrict x, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    best[i] = ((x[i] > best[i]) | (x[i] != x[i])) ? x[i] : best[i];
}

INGOT_SIMD void widen(int64_t *__restrict to, const int32_t *__restrict from, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i];
}

INGOT_SIMD void scaleRow(float *__restrict to, const float *__restrict from, float divisor, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i] / divisor;
}

class ChannelsLastPool : public BoundKernel {
public:
  explicit ChannelsLastPool(PoolProblem p)
      : problem(std::move(p)), in(problem.stridesOf(problem.x)), out(problem.stridesOf(problem.result)) {}

  Status run(const KernelArgs &args) const override {
    const int64_t height = problem.out[1], depth = problem.out[0];
    const int64_t work = std::max<int64_t>(1, problem.out[2] * problem.channels);
    parallelFor(0, problem.batch * depth * height, std::max<int64_t>(1, 8192 / work), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t w = 0; w < problem.out[2]; ++w)
          position(args, i / (depth * height), {i / height % depth, i % height, w});
    });
    return {};
  }

protected:
  virtual void position(const KernelArgs &args, int64_t n, const Triple &at) const = 0;

  int64_t target(int64_t n, const Triple &at) const {
    return n * out.batch + at[0] * out.spatial[0] + at[1] * out.spatial[1] + at[2] * out.spatial[2];
  }

  template <typename F> void forEachInWindow(const Triple &at, F visit) const {
    const PoolWindow &d = problem.windows[0][at[0]], &h = problem.windows[1][at[1]], &w = problem.windows[2][at[2]];
    for (int64_t i = 0, z = d.first; i < d.count; ++i, z += d.step)
      for (int64_t j = 0, y = h.first; j < h.count; ++j, y += h.step)
        for (int64_t k = 0, x = w.first; k < w.count; ++k, x += w.step)
          visit(z * in.spatial[0] + y * in.spatial[1] + x * in.spatial[2],
                static_cast<int32_t>((z * problem.in[1] + y) * problem.in[2] + x));
  }

  PoolProblem problem;
  PoolProblem::Strides in, out;
};

class ChannelsLastMaxPool final : public ChannelsLastPool {
public:
  using ChannelsLastPool::ChannelsLastPool;

private:
  void position(const KernelArgs &args, int64_t n, const Triple &at) const override {
    const float *x = static_cast<const float *>(args.operands[0]) + n * in.batch;
    const int64_t first = target(n, at);
    for (int64_t c = 0; c < problem.channels; c += kBlock) {
      const int64_t count = std::min(kBlock, problem.channels - c);
      float *best = static_cast<float *>(args.results[0]) + first + c;
      int32_t index[kBlock];
      bool isFirst = true;
      forEachInWindow(at, [&](int64_t offset, int32_t flat) {
        if (isFirst) {
          std::copy_n(x + offset + c, count, best);
          std::fill_n(index, count, flat);
        } else if (!args.results[1]) {
          maxRowOnly(best, x + offset + c, count);
        } else {
          maxRow(best, index, x + offset + c, flat, count);
        }
        isFirst = false;
      });
      if (args.results[1])
        widen(static_cast<int64_t *>(args.results[1]) + first + c, index, count);
    }
  }
};

class ChannelsLastAvgPool final : public ChannelsLastPool {
public:
  using ChannelsLastPool::ChannelsLastPool;

private:
  void position(const KernelArgs &args, int64_t n, const Triple &at) const override {
    const float *x = static_cast<const float *>(args.operands[0]) + n * in.batch;
    int64_t padded = 1, read = 1;
    for (size_t i = 0; i < 3; ++i) {
      padded *= problem.windows[i][at[i]].padded;
      read *= problem.windows[i][at[i]].count;
    }
    const double divisor = read == 0 ? 1 : problem.divisorFor(read, padded);
    for (int64_t c = 0; c < problem.channels; c += kBlock) {
      const int64_t count = std::min(kBlock, problem.channels - c);
      float sums[kBlock] = {};
      forEachInWindow(at, [&](int64_t offset, int32_t) { rows::addTo(sums, x + offset + c, count); });
      scaleRow(static_cast<float *>(args.results[0]) + target(n, at) + c, sums, static_cast<float>(divisor), count);
    }
  }
};

} // namespace

std::unique_ptr<BoundKernel> makeFastMaxPool(PoolProblem problem) {
  return std::make_unique<ChannelsLastMaxPool>(std::move(problem));
}

std::unique_ptr<BoundKernel> makeFastAvgPool(PoolProblem problem) {
  return std::make_unique<ChannelsLastAvgPool>(std::move(problem));
}

} // namespace ingot
