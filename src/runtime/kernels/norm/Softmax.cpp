#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/elementwise/Widened.h"
#include "runtime/kernels/norm/Norm.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

struct SoftmaxProblem {
  TensorDesc x, result;
  int64_t length = 1, xStride = 1, resultStride = 1;
  StridedLoop loop; ///< over all other dimensions
  bool isLog = false;
};

/// A zero-dimensional tensor has one row of one element.
SoftmaxProblem problemOf(const TensorDesc &x, size_t axis, bool isLog) {
  SoftmaxProblem problem;
  problem.isLog = isLog;
  problem.x = x;
  problem.result = denseLike(x.dtype, x.sizes, x);
  TensorDesc outerX = x, outerResult = problem.result;
  if (!x.sizes.empty()) {
    problem.length = x.sizes[axis];
    problem.xStride = x.strides[axis];
    problem.resultStride = problem.result.strides[axis];
    outerX.sizes[axis] = outerResult.sizes[axis] = 1;
  }
  const TensorDesc *tensors[] = {&outerResult, &outerX};
  problem.loop = StridedLoop::make(tensors);
  return problem;
}

/// With elements of another type, where one is given.
Result<SoftmaxProblem> makeProblem(const StepContext &context, std::optional<DType> dtype = std::nullopt) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", std::max<size_t>(1, x->sizes.size())));
  INGOT_TRY(bool isLog, requiredAttr<bool>(context, "log"));
  if (context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "the result has the wrong element type");
  TensorDesc desc = *x;
  desc.dtype = dtype.value_or(x->dtype);
  return problemOf(desc, static_cast<size_t>(axis), isLog);
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
    const int64_t grain = std::max<int64_t>(kTogether, 8192 / problem.length);
    parallelFor(0, problem.loop.count(), grain, [&](int64_t begin, int64_t end) { lines(base, begin, end); });
    return {};
  }

protected:
  /// Lines that lie beside each other are at least so many, where there are as many.
  static constexpr int64_t kTogether = 16;

  virtual void row(void *, const void *) const {}

  /// The lines [begin, end) of the loop.
  virtual void lines(const StridedLoop::Pointers &base, int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; ++i) {
      const StridedLoop::Pointers p = problem.loop.at(base, i);
      row(p[0], p[1]);
    }
  }

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

void computeRow(float *result, const float *x, int64_t length, bool isLog) {
  const float largest = rows::maximum(x, length);
  if (isLog) {
    const double sum = rows::sumExpShifted(x, largest, length);
    // Two steps: the maximum may be large where the logarithm is small.
    rows::shift(result, x, largest, length);
    rows::shift(result, result, static_cast<float>(std::log(sum)), length);
    return;
  }
  const double sum = rows::expShifted(result, x, largest, length);
  rows::scale(result, result, static_cast<float>(1.0 / sum), length);
}

/// Contiguous rows of float32.
class FastSoftmax final : public Softmax {
public:
  using Softmax::Softmax;

private:
  void row(void *to, const void *from) const override {
    computeRow(static_cast<float *>(to), static_cast<const float *>(from), problem.length, problem.isLog);
  }
};

/// Lines of float32 with elements apart, such as channels of pixels: some that lie beside each other become rows, and
/// lines again.
class StridedSoftmax final : public Softmax {
public:
  using Softmax::Softmax;

private:
  void lines(const StridedLoop::Pointers &base, int64_t begin, int64_t end) const override {
    std::vector<float> rows(static_cast<size_t>(kTogether * problem.length));
    for (; begin < end; begin += kTogether)
      someLines(base, begin, std::min(kTogether, end - begin), rows.data());
  }

  void someLines(const StridedLoop::Pointers &base, int64_t first, int64_t count, float *rows) const {
    std::array<StridedLoop::Pointers, kTogether> at;
    for (int64_t j = 0; j < count; ++j)
      at[static_cast<size_t>(j)] = problem.loop.at(base, first + j);
    for (int64_t i = 0; i < problem.length; ++i)
      for (int64_t j = 0; j < count; ++j)
        rows[j * problem.length + i] =
            reinterpret_cast<const float *>(at[static_cast<size_t>(j)][1])[i * problem.xStride];
    for (int64_t j = 0; j < count; ++j)
      computeRow(rows + j * problem.length, rows + j * problem.length, problem.length, problem.isLog);
    for (int64_t i = 0; i < problem.length; ++i)
      for (int64_t j = 0; j < count; ++j)
        reinterpret_cast<float *>(at[static_cast<size_t>(j)][0])[i * problem.resultStride] =
            rows[j * problem.length + i];
  }
};

std::unique_ptr<BoundKernel> fastSoftmax(SoftmaxProblem problem) {
  if (problem.length == 1 || (problem.xStride == 1 && problem.resultStride == 1))
    return std::make_unique<FastSoftmax>(std::move(problem));
  return std::make_unique<StridedSoftmax>(std::move(problem));
}

Result<std::vector<ResultDesc>> inferSoftmax(const StepContext &context) {
  INGOT_TRY(SoftmaxProblem problem, makeProblem(context));
  INGOT_TRY(auto results, denseResult(context, problem.result));
  INGOT_TRY(auto kernel, bindReferenceSoftmax(context, {})); // refuses types that do not fit
  (void)kernel;
  return results;
}

Result<std::unique_ptr<BoundKernel>> bindSoftmax(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(SoftmaxProblem problem, makeProblem(context));
  if (problem.x.dtype == DType::Float32)
    return fastSoftmax(std::move(problem));
  if (isHalf(problem.x.dtype) && problem.x.numel() != 0) {
    INGOT_TRY(SoftmaxProblem wide, makeProblem(context, DType::Float32));
    WideOperands operands(problem.x.dtype);
    operands.add(0, problem.x);
    if (auto made = std::move(operands).makeKernel(fastSoftmax(std::move(wide)), problem.result))
      return made;
  }
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
