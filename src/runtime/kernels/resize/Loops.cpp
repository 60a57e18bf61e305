// The loops of resize: one for every type and layout, one for channels-last float32.
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/resize/Resize.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

using Triple = std::array<int64_t, 3>;

class ResizeLoop : public BoundKernel {
public:
  explicit ResizeLoop(ResizeProblem p)
      : problem(std::move(p)), in(ResizeProblem::stridesOf(problem.x)), out(ResizeProblem::stridesOf(problem.result)) {}

protected:
  /// visit(offset in the input, weight) for the positions that a result position is made of.
  template <typename F> void forEachTap(const Triple &at, F visit) const {
    const auto &[d, h, w] = problem.tables;
    for (size_t i = 0; i < d.taps; ++i)
      for (size_t j = 0; j < h.taps; ++j)
        for (size_t k = 0; k < w.taps; ++k) {
          const size_t x = static_cast<size_t>(at[0]) * d.taps + i, y = static_cast<size_t>(at[1]) * h.taps + j,
                       z = static_cast<size_t>(at[2]) * w.taps + k;
          visit(d.positions[x] * in.spatial[0] + h.positions[y] * in.spatial[1] + w.positions[z] * in.spatial[2],
                d.weights[x] * h.weights[y] * w.weights[z]);
        }
  }

  int64_t targetOf(const Triple &at) const {
    return at[0] * out.spatial[0] + at[1] * out.spatial[1] + at[2] * out.spatial[2];
  }

  bool isCopy() const { return problem.mode == ResizeMode::Nearest || problem.mode == ResizeMode::NearestExact; }

  ResizeProblem problem;
  ResizeProblem::Strides in, out;
};

template <typename T> class ReferenceResize final : public ResizeLoop {
public:
  using ResizeLoop::ResizeLoop;

  Status run(const KernelArgs &args) const override {
    const int64_t channels = problem.x.sizes[1], rows = problem.out[0] * problem.out[1];
    const int64_t grain = std::max<int64_t>(1, 4096 / problem.out[2]);
    parallelFor(0, problem.x.sizes[0] * channels * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t plane = i / rows, n = plane / channels, c = plane % channels;
        const T *x = static_cast<const T *>(args.operands[0]) + n * in.batch + c * in.channel;
        T *result = static_cast<T *>(args.results[0]) + n * out.batch + c * out.channel;
        for (int64_t w = 0; w < problem.out[2]; ++w)
          position(x, result, {i % rows / problem.out[1], i % problem.out[1], w});
      }
    });
    return {};
  }

private:
  void position(const T *x, T *result, const Triple &at) const {
    T &target = result[targetOf(at)];
    if (isCopy()) {
      forEachTap(at, [&](int64_t offset, double) { target = x[offset]; });
      return;
    }
    double sum = 0;
    forEachTap(at, [&](int64_t offset, double weight) { sum += scalar::cast<double>(x[offset]) * weight; });
    target = scalar::cast<T>(sum);
  }
};

INGOT_SIMD void addScaled(float *__restrict sum, const float *__restrict x, float weight, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sum[i] += x[i] * weight;
}

INGOT_SIMD void setScaled(float *__restrict sum, const float *__restrict x, float weight, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sum[i] = x[i] * weight;
}

class ChannelsLastResize final : public ResizeLoop {
public:
  using ResizeLoop::ResizeLoop;

  Status run(const KernelArgs &args) const override {
    const int64_t rows = problem.out[0] * problem.out[1], channels = problem.x.sizes[1];
    const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, problem.out[2] * channels));
    parallelFor(0, problem.x.sizes[0] * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float *x = static_cast<const float *>(args.operands[0]) + i / rows * in.batch;
        float *result = static_cast<float *>(args.results[0]) + i / rows * out.batch;
        for (int64_t w = 0; w < problem.out[2]; ++w)
          position(x, result, {i % rows / problem.out[1], i % problem.out[1], w}, channels);
      }
    });
    return {};
  }

private:
  void position(const float *x, float *result, const Triple &at, int64_t channels) const {
    float *target = result + targetOf(at);
    bool isFirst = true;
    forEachTap(at, [&](int64_t offset, double weight) {
      if (isCopy())
        std::memcpy(target, x + offset, static_cast<size_t>(channels) * sizeof(float));
      else if (isFirst)
        setScaled(target, x + offset, static_cast<float>(weight), channels);
      else
        addScaled(target, x + offset, static_cast<float>(weight), channels);
      isFirst = false;
    });
  }
};

} // namespace

std::unique_ptr<BoundKernel> makeFastResize(ResizeProblem problem) {
  return std::make_unique<ChannelsLastResize>(std::move(problem));
}

Result<std::unique_ptr<BoundKernel>> makeReferenceResize(ResizeProblem problem) {
  const bool isCopy = problem.mode == ResizeMode::Nearest || problem.mode == ResizeMode::NearestExact;
  const DType dtype = problem.x.dtype;
  auto make = [&]<typename T>() { return makeKernel<ReferenceResize<T>>(std::move(problem)); };
  return isCopy ? dispatchType<RealTypes>("resize", dtype, make) : dispatchType<FloatTypes>("resize", dtype, make);
}

} // namespace ingot
