// plane_scatter: values go to the places of their plane that positions name.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <atomic>

namespace ingot {
namespace {

struct ScatterProblem {
  DType dtype = DType::Float32;
  int64_t planes = 0, count = 0, size = 0;
  bool accumulates = false;
};

Result<int64_t> sizeOf(const StepContext &context) {
  INGOT_TRY(int64_t size, requiredAttr<int64_t>(context, "size"));
  if (size == INT64_MIN) {
    const bool isThere = context.operands.size() == 3 && context.operands[2].scalar;
    const int64_t *number = isThere ? std::get_if<int64_t>(&*context.operands[2].scalar) : nullptr;
    if (!number)
      return badStep(context, "the size of a plane is missing");
    size = *number;
  }
  if (size < 0 || size > (int64_t(1) << 48))
    return badShapes(context, "the size of a plane is out of range");
  return size;
}

Result<ScatterProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 3));
  INGOT_TRY(const TensorDesc *values, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *indices, tensorAt(context, 1));
  if (values->sizes.size() != 2 || values->sizes != indices->sizes || indices->dtype != DType::Int64)
    return badShapes(context, "needs values [P, K], and int64 positions of their shape");
  if (context.resultTypes[0].dtype != values->dtype)
    return badStep(context, "the result has the wrong element type");
  INGOT_TRY(int64_t size, sizeOf(context));
  INGOT_TRY(bool accumulates, requiredAttr<bool>(context, "accumulate"));
  return ScatterProblem{values->dtype, values->sizes[0], values->sizes[1], size, accumulates};
}

template <typename T> class PlaneScatter final : public BoundKernel {
public:
  explicit PlaneScatter(const ScatterProblem &problem) : problem(problem) {}

  Status run(const KernelArgs &args) const override {
    std::atomic<bool> isInside = true;
    parallelFor(0, problem.planes, 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane)
        if (!fill(args, plane))
          isInside = false;
    });
    if (!isInside)
      return usageError("plane_scatter: a position is outside of its plane of " + std::to_string(problem.size) +
                        " elements");
    return {};
  }

private:
  bool fill(const KernelArgs &args, int64_t plane) const {
    const T *values = static_cast<const T *>(args.operands[0]) + plane * problem.count;
    const auto *positions = static_cast<const int64_t *>(args.operands[1]) + plane * problem.count;
    T *result = static_cast<T *>(args.results[0]) + plane * problem.size;
    std::fill_n(result, problem.size, scalar::cast<T>(0.0F));
    for (int64_t i = 0; i < problem.count; ++i) {
      if (positions[i] < 0 || positions[i] >= problem.size)
        return false;
      T &target = result[positions[i]];
      if (!problem.accumulates)
        target = values[i];
      else if constexpr (std::is_same_v<T, bool>)
        target = target || values[i];
      else
        target = scalar::cast<T>(
            scalar::add(scalar::cast<scalar::Compute<T>>(target), scalar::cast<scalar::Compute<T>>(values[i])));
    }
    return true;
  }

  ScatterProblem problem;
};

Result<std::vector<ResultDesc>> inferScatter(const StepContext &context) {
  INGOT_TRY(ScatterProblem problem, makeProblem(context));
  return denseResult(context, TensorDesc::contiguous(problem.dtype, {problem.planes, problem.size}));
}

Result<std::unique_ptr<BoundKernel>> bindScatter(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(ScatterProblem problem, makeProblem(context));
  return dispatchType < RealTypes | ComplexTypes > ("plane_scatter", problem.dtype,
                                                    [&]<typename T>() { return makeKernel<PlaneScatter<T>>(problem); });
}

} // namespace

extern const KernelDef kernelDef_plane_scatter = {"plane_scatter", inferScatter, bindScatter, false};

} // namespace ingot
