// The reference: any type, any strides.
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/pool/Pool.h"
#include "runtime/threads/Pool.h"

namespace ingot {
namespace {

class ReferencePool : public BoundKernel {
public:
  explicit ReferencePool(PoolProblem p)
      : problem(std::move(p)), in(problem.stridesOf(problem.x)), out(problem.stridesOf(problem.result)) {}

  Status run(const KernelArgs &args) const override {
    parallelFor(0, problem.batch * problem.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        plane(args, i / problem.channels, i % problem.channels);
    });
    return {};
  }

protected:
  virtual void position(const KernelArgs &args, int64_t source, int64_t target, const Triple &at) const = 0;

  /// visit(offset in the input, flat position in the spatial dimensions) for the window's elements.
  template <typename F> void forEachInWindow(const Triple &at, F visit) const {
    const PoolWindow &d = problem.windows[0][at[0]], &h = problem.windows[1][at[1]], &w = problem.windows[2][at[2]];
    for (int64_t i = 0, z = d.first; i < d.count; ++i, z += d.step)
      for (int64_t j = 0, y = h.first; j < h.count; ++j, y += h.step)
        for (int64_t k = 0, x = w.first; k < w.count; ++k, x += w.step)
          visit(z * in.spatial[0] + y * in.spatial[1] + x * in.spatial[2], (z * problem.in[1] + y) * problem.in[2] + x);
  }

  PoolProblem problem;
  PoolProblem::Strides in, out;

private:
  void plane(const KernelArgs &args, int64_t n, int64_t c) const {
    const int64_t source = n * in.batch + c * in.channel, target = n * out.batch + c * out.channel;
    for (int64_t d = 0; d < problem.out[0]; ++d)
      for (int64_t h = 0; h < problem.out[1]; ++h)
        for (int64_t w = 0; w < problem.out[2]; ++w)
          position(args, source, target + d * out.spatial[0] + h * out.spatial[1] + w * out.spatial[2], {d, h, w});
  }
};

template <typename T> class ReferenceMaxPool final : public ReferencePool {
public:
  using ReferencePool::ReferencePool;

private:
  void position(const KernelArgs &args, int64_t source, int64_t target, const Triple &at) const override {
    const T *x = static_cast<const T *>(args.operands[0]) + source;
    bool isFirst = true;
    scalar::Compute<T> best{};
    int64_t index = 0;
    forEachInWindow(at, [&](int64_t offset, int64_t flat) {
      const auto value = scalar::cast<scalar::Compute<T>>(x[offset]);
      if (isFirst || value > best || value != value) {
        best = value;
        index = flat;
      }
      isFirst = false;
    });
    static_cast<T *>(args.results[0])[target] = scalar::cast<T>(best);
    if (args.results[1])
      static_cast<int64_t *>(args.results[1])[target] = index;
  }
};

template <typename T> class ReferenceAvgPool final : public ReferencePool {
public:
  using ReferencePool::ReferencePool;

private:
  void position(const KernelArgs &args, int64_t source, int64_t target, const Triple &at) const override {
    const T *x = static_cast<const T *>(args.operands[0]) + source;
    using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    Sum sum = 0;
    int64_t read = 0;
    forEachInWindow(at, [&](int64_t offset, int64_t) {
      sum = scalar::add(sum, scalar::cast<Sum>(x[offset]));
      ++read;
    });
    int64_t padded = 1;
    for (size_t i = 0; i < 3; ++i)
      padded *= problem.windows[i][at[i]].padded;
    const auto divisor = static_cast<Sum>(problem.divisorFor(read, padded));
    // A window that lies in the padding alone gives 0, not 0 / 0.
    const Sum mean = read == 0 || divisor == 0 ? Sum(0) : sum / divisor;
    static_cast<T *>(args.results[0])[target] = scalar::cast<T>(mean);
  }
};

} // namespace

Result<std::unique_ptr<BoundKernel>> makeReferenceMaxPool(PoolProblem problem) {
  return dispatchType < IntTypes |
         FloatTypes > ("max_pool", problem.x.dtype, [&]<typename T>() {
           return Result<std::unique_ptr<BoundKernel>>(std::make_unique<ReferenceMaxPool<T>>(std::move(problem)));
         });
}

Result<std::unique_ptr<BoundKernel>> makeReferenceAvgPool(PoolProblem problem) {
  return dispatchType < IntTypes |
         FloatTypes > ("avg_pool", problem.x.dtype, [&]<typename T>() {
           return Result<std::unique_ptr<BoundKernel>>(std::make_unique<ReferenceAvgPool<T>>(std::move(problem)));
         });
}

} // namespace ingot
