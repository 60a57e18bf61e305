// fold: patches are added up at the places where they were taken.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/view/View.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

struct FoldProblem {
  TensorDesc x;
  int64_t batch = 0, channels = 0;
  std::vector<int64_t> out, kernel, strides, padding, dilations, places;
};

Result<FoldProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 3));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  FoldProblem problem;
  problem.x = *x;
  INGOT_TRY(problem.out, dynamicListAttr(context, "output", 1));
  INGOT_TRY(problem.kernel, listAttr(context, "kernel", 2, 1, kMaxExtent));
  INGOT_TRY(problem.strides, listAttr(context, "strides", 2, 1, kMaxExtent));
  INGOT_TRY(problem.padding, listAttr(context, "padding", 2, 0, kMaxExtent));
  INGOT_TRY(problem.dilations, listAttr(context, "dilations", 2, 1, kMaxExtent));
  if (x->sizes.size() != 3 || problem.out.size() != 2 || context.resultTypes[0].dtype != x->dtype)
    return badShapes(context, "needs patches [N, C * kernel, places]");
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = problem.dilations[i] * (problem.kernel[i] - 1) + 1;
    const int64_t room = problem.out[i] + 2 * problem.padding[i] - reach;
    if (problem.out[i] < 0 || problem.out[i] > kMaxExtent || room < 0)
      return badShapes(context, "the window does not fit into the image");
    problem.places.push_back(room / problem.strides[i] + 1);
  }
  const int64_t window = problem.kernel[0] * problem.kernel[1];
  if (x->sizes[1] % window != 0 || x->sizes[2] != problem.places[0] * problem.places[1])
    return badShapes(context, "the number of patches does not fit the image");
  problem.batch = x->sizes[0];
  problem.channels = x->sizes[1] / window;
  return problem;
}

template <typename T> class Fold final : public BoundKernel {
  using C = scalar::Compute<T>;

public:
  explicit Fold(FoldProblem p) : problem(std::move(p)) {}

  Status run(const KernelArgs &args) const override {
    parallelFor(0, problem.batch * problem.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane)
        fill(args, plane);
    });
    return {};
  }

private:
  void fill(const KernelArgs &args, int64_t plane) const {
    const int64_t kernel = problem.kernel[0] * problem.kernel[1], count = problem.places[0] * problem.places[1];
    const T *x = static_cast<const T *>(args.operands[0]) + plane * kernel * count;
    T *result = static_cast<T *>(args.results[0]) + plane * problem.out[0] * problem.out[1];
    std::fill_n(result, problem.out[0] * problem.out[1], scalar::cast<T>(0.0F));
    for (int64_t k = 0; k < kernel; ++k)
      for (int64_t i = 0; i < problem.places[0]; ++i) {
        const int64_t row = position(0, k / problem.kernel[1], i);
        if (row < 0 || row >= problem.out[0])
          continue;
        for (int64_t j = 0; j < problem.places[1]; ++j) {
          const int64_t column = position(1, k % problem.kernel[1], j);
          if (column >= 0 && column < problem.out[1])
            add(result[row * problem.out[1] + column], x[k * count + i * problem.places[1] + j]);
        }
      }
  }

  int64_t position(size_t dim, int64_t k, int64_t place) const {
    return place * problem.strides[dim] - problem.padding[dim] + k * problem.dilations[dim];
  }

  static void add(T &target, T value) {
    if constexpr (std::is_same_v<T, bool>)
      target = target || value;
    else
      target = scalar::cast<T>(scalar::add(scalar::cast<C>(target), scalar::cast<C>(value)));
  }

  FoldProblem problem;
};

Result<std::vector<ResultDesc>> inferFold(const StepContext &context) {
  INGOT_TRY(FoldProblem problem, makeProblem(context));
  return denseResult(context, TensorDesc::contiguous(
                                  problem.x.dtype, {problem.batch, problem.channels, problem.out[0], problem.out[1]}));
}

Result<std::unique_ptr<BoundKernel>> bindFold(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(FoldProblem problem, makeProblem(context));
  return dispatchType < RealTypes | ComplexTypes > ("fold", problem.x.dtype, [&]<typename T>() {
                                      return makeKernel<Fold<T>>(std::move(problem));
                                    });
}

} // namespace

extern const KernelDef kernelDef_fold = {"fold", inferFold, bindFold, false};

} // namespace ingot
