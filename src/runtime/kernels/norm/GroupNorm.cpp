// group_norm: statistics over a group's channels and all positions, for row-major and channels-last tensors.
#include "runtime/kernels/norm/GroupNorm.h"
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ingot {
namespace {

Result<GroupNormProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 3));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  GroupNormProblem problem;
  INGOT_TRY(problem.groups, requiredAttr<int64_t>(context, "groups"));
  INGOT_TRY(problem.eps, requiredAttr<double>(context, "eps"));
  if (x->sizes.size() < 2 || problem.groups < 1 || x->sizes[1] % problem.groups != 0)
    return badShapes(context, "the channels cannot be divided into " + std::to_string(problem.groups) + " groups");
  for (size_t i = 1; i < 3; ++i) {
    INGOT_TRY(const TensorDesc *parameter, optionalTensorAt(context, i));
    if (!parameter)
      continue;
    (i == 1 ? problem.hasWeight : problem.hasBias) = true;
    if (parameter->dtype != x->dtype)
      return badStep(context, "the operands have different element types");
    if (parameter->sizes != std::vector<int64_t>{x->sizes[1]})
      return badShapes(context, "weight and bias have not one entry a channel");
  }
  if (context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "the result has the wrong element type");
  problem.x = *x;
  problem.batch = x->sizes[0];
  problem.channels = x->sizes[1] / problem.groups;
  for (size_t i = 2; i < x->sizes.size(); ++i)
    problem.positions *= x->sizes[i];
  problem.isChannelsLast = isChannelsLast(*x) && !x->isContiguous();
  problem.result =
      problem.isChannelsLast ? channelsLast(x->dtype, x->sizes) : TensorDesc::contiguous(x->dtype, x->sizes);
  return problem;
}

template <typename T> class GroupNorm final : public BoundKernel {
public:
  explicit GroupNorm(GroupNormProblem p) : problem(std::move(p)) {
    if (!problem.isChannelsLast && !problem.x.isContiguous())
      copy = makeCopy(problem.result, problem.x);
  }

  size_t scratchBytes() const override { return copy ? static_cast<size_t>(problem.x.numel()) * sizeof(T) : 0; }

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const T *>(args.operands[0]);
    if (copy) {
      copy->run(args.operands[0], args.scratch);
      x = static_cast<const T *>(args.scratch);
    }
    parallelFor(0, problem.batch * problem.groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        runGroup(args, x, i / problem.groups, i % problem.groups);
    });
    return {};
  }

private:
  /// visit(offset of a contiguous row, its length, first channel) for a group. Row-major groups have a row for
  /// each channel; channels-last ones have one for each position.
  template <typename F> void forEachRow(int64_t n, int64_t g, F visit) const {
    const int64_t all = problem.channels * problem.groups, first = g * problem.channels;
    const int64_t start = n * all * problem.positions;
    if (problem.isChannelsLast)
      for (int64_t p = 0; p < problem.positions; ++p)
        visit(start + p * all + first, problem.channels, first);
    else
      for (int64_t c = first; c < first + problem.channels; ++c)
        visit(start + c * problem.positions, problem.positions, c);
  }

  static double rowSum(const T *x, int64_t count) {
    if constexpr (std::is_same_v<T, float>)
      return rows::sum(x, count);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += scalar::cast<double>(x[i]);
    return sum;
  }

  static double rowSquares(const T *x, double mean, int64_t count) {
    if constexpr (std::is_same_v<T, float>)
      return rows::squares(x, static_cast<float>(mean), count);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += (scalar::cast<double>(x[i]) - mean) * (scalar::cast<double>(x[i]) - mean);
    return sum;
  }

  void runGroup(const KernelArgs &args, const T *x, int64_t n, int64_t g) const {
    const auto elements = static_cast<double>(problem.channels * problem.positions);
    double mean = 0, squares = 0;
    forEachRow(n, g, [&](int64_t offset, int64_t count, int64_t) { mean += rowSum(x + offset, count); });
    mean /= elements;
    forEachRow(n, g, [&](int64_t offset, int64_t count, int64_t) { squares += rowSquares(x + offset, mean, count); });
    const double factor = 1.0 / std::sqrt(squares / elements + problem.eps);
    forEachRow(n, g, [&](int64_t offset, int64_t count, int64_t channel) {
      finishRow(args, x + offset, static_cast<T *>(args.results[0]) + offset, count, channel, mean, factor);
    });
  }

  void finishRow(const KernelArgs &args, const T *x, T *result, int64_t count, int64_t channel, double mean,
                 double factor) const {
    const auto *weight = problem.hasWeight ? static_cast<const T *>(args.operands[1]) + channel : nullptr;
    const auto *bias = problem.hasBias ? static_cast<const T *>(args.operands[2]) + channel : nullptr;
    if constexpr (std::is_same_v<T, float>)
      if (problem.isChannelsLast) {
        rows::normalise(result, x, static_cast<float>(mean), static_cast<float>(factor), weight, bias, count);
        return;
      }
    const int64_t step = problem.isChannelsLast ? 1 : 0; // a row-major row has one channel
    using C = std::conditional_t<std::is_same_v<T, float>, float, double>;
    for (int64_t i = 0; i < count; ++i) {
      C value = (scalar::cast<C>(x[i]) - static_cast<C>(mean)) * static_cast<C>(factor);
      value = weight ? value * scalar::cast<C>(weight[i * step]) : value;
      result[i] = scalar::cast<T>(bias ? value + scalar::cast<C>(bias[i * step]) : value);
    }
  }

  GroupNormProblem problem;
  std::optional<StridedCopy> copy;
};

/// Gives the kernel inside weight and bias without gaps, such as one number repeated has.
class DenseParameters final : public BoundKernel {
public:
  DenseParameters(std::unique_ptr<BoundKernel> inside, const StepContext &context) : inner(std::move(inside)) {
    total = (inner->scratchBytes() + 63) / 64 * 64;
    for (size_t i = 1; i < std::min<size_t>(context.operands.size(), kOperands); ++i) {
      const TensorDesc &given = context.operands[i].desc;
      if (!context.operands[i].present || given.isContiguous())
        continue;
      copies[i] = makeCopy(TensorDesc::contiguous(given.dtype, given.sizes), given);
      offsets[i] = total;
      total += (static_cast<size_t>(given.numel()) * byteSize(given.dtype) + 63) / 64 * 64;
    }
  }

  size_t scratchBytes() const override { return total; }

  Status run(const KernelArgs &args) const override {
    std::array<void *, kOperands> operands{};
    const size_t count = std::min(args.operands.size(), kOperands);
    for (size_t i = 0; i < count; ++i) {
      operands[i] = args.operands[i];
      if (!copies[i])
        continue;
      operands[i] = static_cast<char *>(args.scratch) + offsets[i];
      copies[i]->run(args.operands[i], operands[i]);
    }
    return inner->run({std::span<void *const>(operands.data(), count), args.results, args.scratch});
  }

private:
  static constexpr size_t kOperands = 3;
  std::unique_ptr<BoundKernel> inner;
  std::array<std::optional<StridedCopy>, kOperands> copies;
  std::array<size_t, kOperands> offsets{};
  size_t total = 0;
};

/// `kernel` itself where weight and bias have no gaps.
Result<std::unique_ptr<BoundKernel>> withDenseParameters(Result<std::unique_ptr<BoundKernel>> kernel,
                                                         const StepContext &context) {
  bool isDense = true;
  for (size_t i = 1; i < context.operands.size(); ++i)
    isDense = isDense && (!context.operands[i].present || context.operands[i].desc.isContiguous());
  if (!kernel || isDense)
    return kernel;
  return makeKernel<DenseParameters>(*std::move(kernel), context);
}

Result<std::unique_ptr<BoundKernel>> bindGroupNorm(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(GroupNormProblem problem, makeProblem(context));
  if (problem.x.dtype == DType::Float32 && problem.isChannelsLast)
    return withDenseParameters(makeChannelsLastGroupNorm(problem), context);
  return bindReferenceGroupNorm(context, results);
}

Result<std::vector<ResultDesc>> inferGroupNorm(const StepContext &context) {
  INGOT_TRY(GroupNormProblem problem, makeProblem(context));
  INGOT_TRY(auto kernel, bindReferenceGroupNorm(context, {})); // refuses types that do not fit
  (void)kernel;
  return denseResult(context, std::move(problem.result));
}

} // namespace

Result<std::unique_ptr<BoundKernel>> bindReferenceGroupNorm(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(GroupNormProblem problem, makeProblem(context));
  auto made = dispatchType<FloatTypes>(context.step.kernel, problem.x.dtype,
                                       [&]<typename T>() { return makeKernel<GroupNorm<T>>(std::move(problem)); });
  return withDenseParameters(std::move(made), context);
}

extern const KernelDef kernelDef_group_norm = {"group_norm", inferGroupNorm, bindGroupNorm, true};

} // namespace ingot
