// fractional_max_pool: every plane has windows of its own, placed by its random samples.
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/pool/Pool.h"
#include "runtime/threads/Pool.h"

namespace ingot {
namespace {

struct FractionalProblem {
  TensorDesc x, samples;
  std::vector<int64_t> resultSizes;
  size_t spatialRank = 2;
  int64_t batch = 1, channels = 1;
  Triple in{1, 1, 1}, kernel{1, 1, 1}, out{1, 1, 1};
};

Status readSpatial(const StepContext &context, FractionalProblem &problem) {
  const size_t rank = problem.spatialRank, dims = problem.x.sizes.size();
  INGOT_TRY(auto kernel, listAttr(context, "kernel", rank, 1, kMaxExtent));
  INGOT_TRY(auto output, listAttr(context, "output", rank, 1, kMaxTable));
  for (size_t i = 0; i < rank; ++i) {
    const size_t place = 3 - rank + i;
    problem.in[place] = problem.x.sizes[dims - rank + i];
    problem.kernel[place] = kernel[i];
    problem.out[place] = output[i];
    if (problem.in[place] > kMaxExtent || output[i] + kernel[i] - 1 > problem.in[place])
      return badShapes(context, "the windows do not fit into the input");
    problem.resultSizes[dims - rank + i] = output[i];
  }
  return {};
}

Result<FractionalProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 2, 2));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *samples, tensorAt(context, 1));
  FractionalProblem problem;
  problem.x = *x;
  problem.samples = *samples;
  problem.resultSizes = x->sizes;
  problem.spatialRank = context.attr<std::vector<int64_t>>("kernel", {}).size();
  const size_t rank = problem.spatialRank, dims = x->sizes.size();
  if (rank < 1 || rank > 3 || (dims != rank + 1 && dims != rank + 2))
    return badShapes(context, "the input has not the kernel's spatial dimensions");
  problem.channels = x->sizes[dims - rank - 1];
  problem.batch = dims == rank + 2 ? x->sizes[0] : 1;
  INGOT_CHECK(readSpatial(context, problem));
  if (samples->sizes.size() != 3 || samples->sizes[0] < problem.batch || samples->sizes[1] < problem.channels ||
      samples->sizes[2] < static_cast<int64_t>(rank) || samples->dtype != x->dtype)
    return badShapes(context, "the samples are not [N, C, " + std::to_string(rank) + "] of the input's type");
  return problem;
}

template <typename T> class FractionalMaxPool final : public BoundKernel {
  using C = scalar::Compute<T>;

public:
  explicit FractionalMaxPool(FractionalProblem p) : problem(std::move(p)) {}

  Status run(const KernelArgs &args) const override {
    parallelFor(0, problem.batch * problem.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane)
        pool(args, plane);
    });
    return {};
  }

private:
  /// Where the windows of dimension `dim` start. Images list their samples from the last dimension on, volumes from
  /// the first.
  std::vector<int64_t> starts(const T *samples, size_t dim) const {
    const size_t rank = problem.spatialRank, fromFirst = dim - (3 - rank);
    const C sample = scalar::cast<C>(samples[rank == 3 ? fromFirst : rank - 1 - fromFirst]);
    const int64_t room = problem.in[dim] - problem.kernel[dim], count = problem.out[dim];
    std::vector<int64_t> result(static_cast<size_t>(count), room);
    const C alpha = count > 1 ? static_cast<C>(room) / static_cast<C>(count - 1) : C(0);
    for (int64_t i = 0; i + 1 < count; ++i) {
      const int64_t start =
          scalar::cast<int64_t>((static_cast<C>(i) + sample) * alpha) - scalar::cast<int64_t>(sample * alpha);
      result[static_cast<size_t>(i)] = std::clamp<int64_t>(start, 0, room);
    }
    return result;
  }

  void pool(const KernelArgs &args, int64_t plane) const {
    const int64_t n = plane / problem.channels, c = plane % problem.channels;
    const T *samples =
        static_cast<const T *>(args.operands[1]) + (n * problem.samples.sizes[1] + c) * problem.samples.sizes[2];
    const Triple &in = problem.in, &out = problem.out;
    const T *x = static_cast<const T *>(args.operands[0]) + plane * in[0] * in[1] * in[2];
    const int64_t places = out[0] * out[1] * out[2];
    T *values = static_cast<T *>(args.results[0]) + plane * places;
    auto *indices = args.results[1] ? static_cast<int64_t *>(args.results[1]) + plane * places : nullptr;
    const auto d = starts(samples, 0), h = starts(samples, 1), w = starts(samples, 2);
    for (int64_t i = 0; i < places; ++i) {
      const Triple first{d[static_cast<size_t>(i / (out[1] * out[2]))], h[static_cast<size_t>(i / out[2] % out[1])],
                         w[static_cast<size_t>(i % out[2])]};
      const int64_t best = largest(x, first);
      values[i] = x[best];
      if (indices)
        indices[i] = best;
    }
  }

  int64_t largest(const T *x, const Triple &first) const {
    const Triple &in = problem.in, &kernel = problem.kernel;
    int64_t best = (first[0] * in[1] + first[1]) * in[2] + first[2];
    for (int64_t z = first[0]; z < first[0] + kernel[0]; ++z)
      for (int64_t y = first[1]; y < first[1] + kernel[1]; ++y)
        for (int64_t place = (z * in[1] + y) * in[2] + first[2], end = place + kernel[2]; place < end; ++place) {
          const C value = scalar::cast<C>(x[place]);
          if (value > scalar::cast<C>(x[best]) || value != value)
            best = place;
        }
    return best;
  }

  FractionalProblem problem;
};

Result<std::vector<ResultDesc>> inferFractional(const StepContext &context) {
  INGOT_TRY(FractionalProblem problem, makeProblem(context));
  if (context.resultTypes[0].dtype != problem.x.dtype || context.resultTypes[1].dtype != DType::Int64)
    return badStep(context, "the results have the wrong element types");
  INGOT_TRY(auto results, denseResult(context, TensorDesc::contiguous(problem.x.dtype, problem.resultSizes)));
  INGOT_TRY(auto indices, denseResult(context, TensorDesc::contiguous(DType::Int64, problem.resultSizes)));
  results.push_back(std::move(indices[0]));
  return results;
}

Result<std::unique_ptr<BoundKernel>> bindFractional(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(FractionalProblem problem, makeProblem(context));
  return dispatchType<FloatTypes>("fractional_max_pool", problem.x.dtype,
                                  [&]<typename T>() { return makeKernel<FractionalMaxPool<T>>(std::move(problem)); });
}

} // namespace

extern const KernelDef kernelDef_fractional_max_pool = {"fractional_max_pool", inferFractional, bindFractional, false};

} // namespace ingot
