#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/norm/Norm.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

struct SoftmaxProblem {
  TensorDesc x, result;
  int64_t length = 1, xStride = 1, resultStride = 1;
  StridedLoop loop; ///< over all other dimensions
  bool isLog = false;
};

/// A zero-dimensional tensor has one row of one element.
Result<SoftmaxProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", std::max<size_t>(1, x->sizes.size())));
  SoftmaxProblem problem;
  INGOT_TRY(problem.isLog, requiredAttr<bool>(context, "log"));
  if (context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "the result has the wrong element type");
  problem.x = *x;
  problem.result = denseLike(x->dtype, x->sizes, *x);
  TensorDesc outerX = *x, outerResult = problem.result;
  if (!x->sizes.empty()) {
    const auto dim = static_cast<size_t>(axis);
    problem.length = x->sizes[dim];
    problem.xStride = x->strides[dim];
    problem.resultStride = problem.result.strides[dim];
    outerX.sizes[dim] = outerResult.sizes[dim] = 1;
  }
  const TensorDesc *tensors[] = {&outerResult, &outerX};
  problem.loop = StridedLoop::make(tensors);
  return problem;
}

class Softmax : public BoundKernel {
public:
  explicit Softmax(SoftmaxProblem problem) : problem(std::move(problem)) {}

  Status run(const KernelArgs &args) const override {
    StridedLoop::Pointers base{};
    base[0] = static_cast<char *>(args.results[0]);
    base[1] = static_cast<char *>(args.operands[0]);
    if (problem.length == 0)
      return {};
    const int64_t grain = std::max<int64_t>(1, 8192 / problem.length);
    parallelFor(0, problem.loop.count(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const StridedLoop::Pointers p = problem.loop.at(base, i);
        row(p[0], p[1]);
      }
    });
    return {};
  }

protected:
  virtual void row(void *result, const void *x) const = 0;

  SoftmaxProblem problem;
};

template <typename T> class ReferenceSoftmax final : public Softmax {
public:
  using Softmax::Softmax;

private:
  void row(void *to, const void *from) const override {
    const auto *x = static_cast<const T *>(from);
    auto *result = static_cast<T *>(to);
    auto at = [&](int64_t i) { return scalar::cast<double>(x[i * problem.xStride]); };
    double largest = at(0), sum = 0;
    for (int64_t i = 1; i < problem.length; ++i)
      largest = scalar::maximum(largest, at(i));
    for (int64_t i = 0; i < problem.length; ++i)
      sum += std::exp(at(i) - largest);
    for (int64_t i = 0; i < problem.length; ++i) {
      const double shifted = at(i) - largest;
      result[i * problem.resultStride] =
          scalar::cast<T>(problem.isLog ? shifted - std::log(sum) : std::exp(shifted) / sum);
    }
  }
};

/// Contiguous rows of float32.
class FastSoftmax final : public Softmax {
public:
  using Softmax::Softmax;

private:
  void row(void *to, const void *from) const override {
    const auto *x = static_cast<const float *>(from);
    auto *result = static_cast<float *>(to);
    const float largest = rows::maximum(x, problem.length);
    if (problem.isLog) {
      const double sum = rows::sumExpShifted(x, largest, problem.length);
      // Two steps: the maximum may be large where the logarithm is small.
      rows::shift(result, x, largest, problem.length);
      rows::shift(result, result, static_cast<float>(std::log(sum)), problem.length);
      return;
    }
    const double sum = rows::expShifted(result, x, largest, problem.length);
    rows::scale(result, result, static_cast<float>(1.0 / sum), problem.length);
  }
};

Result<std::vector<ResultDesc>> inferSoftmax(const StepContext &context) {
  INGOT_TRY(SoftmaxProblem problem, makeProblem(context));
  INGOT_TRY(auto results, denseResult(context, problem.result));
  INGOT_TRY(auto kernel, bindReferenceSoftmax(context, {})); // refuses types that do not fit
  (void)kernel;
  return results;
}

Result<std::unique_ptr<BoundKernel>> bindSoftmax(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(SoftmaxProblem problem, makeProblem(context));
  const bool hasRows = problem.length == 1 || (problem.xStride == 1 && problem.resultStride == 1);
  if (problem.x.dtype == DType::Float32 && hasRows)
    return makeKernel<FastSoftmax>(std::move(problem));
  return bindReferenceSoftmax(context, results);
}

} // namespace

Result<std::unique_ptr<BoundKernel>> bindReferenceSoftmax(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(SoftmaxProblem problem, makeProblem(context));
  return dispatchType<FloatTypes>(context.step.kernel, problem.x.dtype,
                                  [&]<typename T>() { return makeKernel<ReferenceSoftmax<T>>(std::move(problem)); });
}

extern const KernelDef kernelDef_softmax = {"softmax", inferSoftmax, bindSoftmax, true};

} // namespace ingot
