// The reference: any type of numbers, any strides. One-dimensional and two-dimensional convolutions are
// three-dimensional ones with sizes of 1.
#include "runtime/kernels/conv/Problem.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/threads/Pool.h"

#include <array>

namespace ingot {
namespace {

using Triple = std::array<int64_t, 3>;

Triple triple(std::span<const int64_t> list, int64_t fill) {
  Triple result{fill, fill, fill};
  for (size_t i = 0; i < list.size(); ++i)
    result[3 - list.size() + i] = list[i];
  return result;
}

/// Batch and channel, then the spatial dimensions.
struct Tensor {
  int64_t outer, channel;
  Triple sizes, strides;

  explicit Tensor(const TensorDesc &desc)
      : outer(desc.strides[0]), channel(desc.strides[1]), sizes(triple(std::span(desc.sizes).subspan(2), 1)),
        strides(triple(std::span(desc.strides).subspan(2), 0)) {}

  int64_t offset(int64_t n, int64_t c, const Triple &at) const {
    return n * outer + c * channel + at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
  }
};

template <typename T> class ReferenceConv final : public BoundKernel {
  using C = scalar::Compute<T>;

public:
  explicit ReferenceConv(const ConvProblem &problem)
      : problem(problem), x(problem.x), weight(problem.weight), result(problem.result),
        strides(triple(problem.strides, 1)), padding(triple(problem.padLow, 0)),
        dilations(triple(problem.dilations, 1)) {}

  std::string_view method() const override { return "reference"; }

  Status run(const KernelArgs &args) const override {
    const int64_t channels = problem.outChannels();
    parallelFor(0, problem.batch() * channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        plane(args, i / channels, i % channels);
    });
    return {};
  }

private:
  template <typename F> static void forEach(const Triple &sizes, F visit) {
    for (int64_t d = 0; d < sizes[0]; ++d)
      for (int64_t h = 0; h < sizes[1]; ++h)
        for (int64_t w = 0; w < sizes[2]; ++w)
          visit(Triple{d, h, w});
  }

  void plane(const KernelArgs &args, int64_t n, int64_t o) const {
    const auto *bias = problem.bias ? static_cast<const T *>(args.operands[ConvBias]) : nullptr;
    const C start = bias ? scalar::cast<C>(bias[o * problem.bias->strides[0]]) : C(0);
    forEach(result.sizes, [&](const Triple &at) {
      C value = scalar::add(start, sum(args, n, o, at));
      if (problem.residual) {
        const Tensor residual(*problem.residual);
        value = scalar::add(
            value, scalar::cast<C>(static_cast<const T *>(args.operands[ConvResidual])[residual.offset(n, o, at)]));
      }
      if constexpr (scalar::Real<C>)
        value = activate(problem.activation, value);
      static_cast<T *>(args.results[0])[result.offset(n, o, at)] = scalar::cast<T>(value);
    });
  }

  /// The input position that kernel position `k` reads for the result at `at`; false if there is none.
  bool source(const Triple &at, const Triple &k, Triple &from) const {
    for (size_t i = 0; i < 3; ++i) {
      if (problem.transposed) {
        const int64_t scaled = at[i] + padding[i] - k[i] * dilations[i];
        if (scaled < 0 || scaled % strides[i] != 0)
          return false;
        from[i] = scaled / strides[i];
      } else {
        from[i] = at[i] * strides[i] - padding[i] + k[i] * dilations[i];
      }
      if (from[i] < 0 || from[i] >= x.sizes[i])
        return false;
    }
    return true;
  }

  C sum(const KernelArgs &args, int64_t n, int64_t o, const Triple &at) const {
    const auto *input = static_cast<const T *>(args.operands[ConvX]);
    const auto *kernel = static_cast<const T *>(args.operands[ConvWeight]);
    const int64_t outPerGroup = problem.outChannels() / problem.groups;
    const int64_t inPerGroup = problem.inChannels() / problem.groups;
    const int64_t group = o / outPerGroup;
    C total(0);
    forEach(weight.sizes, [&](const Triple &k) {
      Triple from;
      if (!source(at, k, from))
        return;
      for (int64_t c = 0; c < inPerGroup; ++c) {
        const int64_t channel = group * inPerGroup + c;
        const int64_t position =
            problem.transposed ? weight.offset(channel, o % outPerGroup, k) : weight.offset(o, c, k);
        total = scalar::add(
            total, scalar::mul(scalar::cast<C>(input[x.offset(n, channel, from)]), scalar::cast<C>(kernel[position])));
      }
    });
    return total;
  }

  ConvProblem problem;
  Tensor x, weight, result;
  Triple strides, padding, dilations;
};

} // namespace

Result<std::unique_ptr<BoundKernel>> makeReferenceConv(const ConvProblem &problem) {
  return dispatchType < IntTypes | FloatTypes |
         ComplexTypes > ("conv", problem.x.dtype, [&]<typename T>() { return makeKernel<ReferenceConv<T>>(problem); });
}

} // namespace ingot
