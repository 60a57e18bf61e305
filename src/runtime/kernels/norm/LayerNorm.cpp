// layer_norm over contiguous rows.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Widened.h"
#include "runtime/kernels/norm/Norm.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

struct LayerNormProblem {
  TensorDesc x;
  int64_t count = 1, length = 1;
  bool hasWeight = false, hasBias = false, isRms = false;
  double eps = 0;
};

Result<LayerNormProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 3));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t rank, requiredAttr<int64_t>(context, "rank"));
  LayerNormProblem problem;
  INGOT_TRY(problem.eps, requiredAttr<double>(context, "eps"));
  INGOT_TRY(problem.isRms, requiredAttr<bool>(context, "rms"));
  if (rank < 1 || rank > static_cast<int64_t>(x->sizes.size()))
    return badStep(context, "attribute 'rank' is out of range");
  const std::span<const int64_t> inner = std::span(x->sizes).last(static_cast<size_t>(rank));
  for (size_t i = 1; i < 3; ++i) {
    INGOT_TRY(const TensorDesc *parameter, optionalTensorAt(context, i));
    if (!parameter)
      continue;
    (i == 1 ? problem.hasWeight : problem.hasBias) = true;
    if (parameter->dtype != x->dtype)
      return badStep(context, "the operands have different element types");
    if (!std::ranges::equal(parameter->sizes, inner))
      return badShapes(context, "weight and bias have not the sizes of the normalised dimensions");
  }
  if (context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "the result has the wrong element type");
  problem.x = TensorDesc::contiguous(x->dtype, x->sizes);
  for (int64_t size : inner)
    problem.length *= size;
  problem.count = problem.length == 0 ? 0 : x->numel() / problem.length;
  return problem;
}

class LayerNorm : public BoundKernel {
public:
  explicit LayerNorm(LayerNormProblem problem) : problem(std::move(problem)) {}

  Status run(const KernelArgs &args) const override {
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, problem.length));
    parallelFor(0, problem.count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        row(args, i * problem.length);
    });
    return {};
  }

protected:
  virtual void row(const KernelArgs &args, int64_t offset) const = 0;

  const void *weight(const KernelArgs &args) const { return problem.hasWeight ? args.operands[1] : nullptr; }
  const void *bias(const KernelArgs &args) const { return problem.hasBias ? args.operands[2] : nullptr; }

  LayerNormProblem problem;
};

template <typename T> class ReferenceLayerNorm final : public LayerNorm {
public:
  using LayerNorm::LayerNorm;

private:
  void row(const KernelArgs &args, int64_t offset) const override {
    const T *x = static_cast<const T *>(args.operands[0]) + offset;
    T *result = static_cast<T *>(args.results[0]) + offset;
    const auto *scale = static_cast<const T *>(weight(args)), *shift = static_cast<const T *>(bias(args));
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < problem.length && !problem.isRms; ++i)
      mean += scalar::cast<double>(x[i]);
    mean /= static_cast<double>(problem.length);
    for (int64_t i = 0; i < problem.length; ++i)
      squares += (scalar::cast<double>(x[i]) - mean) * (scalar::cast<double>(x[i]) - mean);
    const double factor = 1.0 / std::sqrt(squares / static_cast<double>(problem.length) + problem.eps);
    for (int64_t i = 0; i < problem.length; ++i) {
      double value = (scalar::cast<double>(x[i]) - mean) * factor;
      value = scale ? value * scalar::cast<double>(scale[i]) : value;
      result[i] = scalar::cast<T>(shift ? value + scalar::cast<double>(shift[i]) : value);
    }
  }
};

class FastLayerNorm final : public LayerNorm {
public:
  using LayerNorm::LayerNorm;

private:
  void row(const KernelArgs &args, int64_t offset) const override {
    const float *x = static_cast<const float *>(args.operands[0]) + offset;
    const auto length = static_cast<double>(problem.length);
    const auto mean = problem.isRms ? 0.0f : static_cast<float>(rows::sum(x, problem.length) / length);
    const double variance = rows::squares(x, mean, problem.length) / length;
    const auto factor = static_cast<float>(1.0 / std::sqrt(variance + problem.eps));
    rows::normalise(static_cast<float *>(args.results[0]) + offset, x, mean, factor,
                    static_cast<const float *>(weight(args)), static_cast<const float *>(bias(args)), problem.length);
  }
};

Result<std::vector<ResultDesc>> inferLayerNorm(const StepContext &context) {
  INGOT_TRY(LayerNormProblem problem, makeProblem(context));
  INGOT_TRY(auto kernel, bindReferenceLayerNorm(context, {})); // refuses types that do not fit
  (void)kernel;
  return denseResult(context, std::move(problem.x));
}

Result<std::unique_ptr<BoundKernel>> bindLayerNorm(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(LayerNormProblem problem, makeProblem(context));
  if (problem.x.dtype == DType::Float32)
    return makeKernel<FastLayerNorm>(std::move(problem));
  if (isHalf(problem.x.dtype) && problem.x.numel() != 0) {
    WideOperands operands(problem.x.dtype);
    for (size_t i = 0; i < context.operands.size(); ++i)
      if (context.operands[i].present)
        operands.add(i, context.operands[i].desc);
    const TensorDesc result = problem.x;
    problem.x = widened(std::move(problem.x));
    return std::move(operands).makeKernel(std::make_unique<FastLayerNorm>(std::move(problem)), result);
  }
  return bindReferenceLayerNorm(context, results);
}

} // namespace

Result<std::unique_ptr<BoundKernel>> bindReferenceLayerNorm(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(LayerNormProblem problem, makeProblem(context));
  return dispatchType<FloatTypes>(context.step.kernel, problem.x.dtype,
                                  [&]<typename T>() { return makeKernel<ReferenceLayerNorm<T>>(std::move(problem)); });
}

extern const KernelDef kernelDef_layer_norm = {"layer_norm", inferLayerNorm, bindLayerNorm, false};

} // namespace ingot
