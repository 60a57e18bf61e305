// roi_align: means of bilinear samples in the parts of boxes.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace ingot {
namespace {

struct RoiProblem {
  TensorDesc x;
  int64_t boxes = 0, samples = 0;
  std::vector<int64_t> output;
  double scale = 1;
  bool aligned = false;
};

Result<RoiProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 2));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *boxes, tensorAt(context, 1));
  if (x->sizes.size() != 4 || boxes->sizes.size() != 2 || boxes->sizes[1] != 5 || boxes->dtype != x->dtype ||
      context.resultTypes[0].dtype != x->dtype || x->sizes[2] > kMaxExtent || x->sizes[3] > kMaxExtent)
    return badShapes(context, "needs an image [N, C, H, W] and boxes [K, 5] of its type");
  RoiProblem problem;
  problem.x = *x;
  problem.boxes = boxes->sizes[0];
  INGOT_TRY(problem.output, listAttr(context, "output", 2, 1, kMaxTable));
  INGOT_TRY(problem.scale, requiredAttr<double>(context, "scale"));
  INGOT_TRY(problem.samples, requiredAttr<int64_t>(context, "samples"));
  INGOT_TRY(problem.aligned, requiredAttr<bool>(context, "aligned"));
  if (problem.samples > kMaxTable || !(std::abs(problem.scale) < 1e6))
    return badStep(context, "the number of samples or the scale is out of range");
  return problem;
}

template <typename T> class RoiAlign final : public BoundKernel {
  using C = scalar::Compute<T>;

  /// One side of a box: where it starts, how long a part is, and how many samples it has.
  struct Side {
    C start, step;
    int64_t samples;
  };

public:
  explicit RoiAlign(RoiProblem p) : problem(std::move(p)) {}

  Status run(const KernelArgs &args) const override {
    std::atomic<bool> isGood = true;
    parallelFor(0, problem.boxes, 1, [&](int64_t begin, int64_t end) {
      for (int64_t box = begin; box < end; ++box)
        if (!align(args, box))
          isGood = false;
    });
    return isGood ? Status()
                  : usageError("roi_align: a box names an image that is not there, or has no finite corners");
  }

private:
  Side side(C low, C high, size_t dim) const {
    const C shift = problem.aligned ? C(0.5) : C(0);
    const C factor = static_cast<C>(problem.scale);
    const C start = low * factor - shift;
    C length = high * factor - shift - start;
    if (!problem.aligned)
      length = std::max(length, C(1));
    const C step = length / static_cast<C>(problem.output[dim]);
    const auto samples = problem.samples > 0 ? problem.samples : scalar::cast<int64_t>(std::ceil(step));
    return {start, step, samples};
  }

  bool align(const KernelArgs &args, int64_t box) const {
    const T *corners = static_cast<const T *>(args.operands[1]) + box * 5;
    std::array<C, 5> at{};
    for (size_t i = 0; i < 5; ++i) {
      at[i] = scalar::cast<C>(corners[i]);
      if (!(std::abs(at[i]) < C(1e9)))
        return false;
    }
    const auto image = static_cast<int64_t>(at[0]);
    if (image < 0 || image >= problem.x.sizes[0])
      return false;
    const Side rows = side(at[2], at[4], 0), columns = side(at[1], at[3], 1);
    const int64_t channels = problem.x.sizes[1], plane = problem.x.sizes[2] * problem.x.sizes[3];
    const int64_t parts = problem.output[0] * problem.output[1];
    const T *x = static_cast<const T *>(args.operands[0]) + image * channels * plane;
    T *result = static_cast<T *>(args.results[0]) + box * channels * parts;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < parts; ++i)
        result[c * parts + i] =
            scalar::cast<T>(mean(x + c * plane, rows, columns, i / problem.output[1], i % problem.output[1]));
    return true;
  }

  C mean(const T *plane, const Side &rows, const Side &columns, int64_t row, int64_t column) const {
    C sum(0);
    auto position = [](const Side &side, int64_t part, int64_t i) {
      return side.start + static_cast<C>(part) * side.step +
             (static_cast<C>(i) + C(0.5)) * side.step / static_cast<C>(side.samples);
    };
    for (int64_t i = 0; i < rows.samples; ++i)
      for (int64_t j = 0; j < columns.samples; ++j)
        sum += sample(plane, position(rows, row, i), position(columns, column, j));
    return sum / static_cast<C>(std::max<int64_t>(rows.samples * columns.samples, 1));
  }

  C sample(const T *plane, C y, C x) const {
    const int64_t height = problem.x.sizes[2], width = problem.x.sizes[3];
    if (y < C(-1) || y > static_cast<C>(height) || x < C(-1) || x > static_cast<C>(width))
      return C(0);
    y = std::min(std::max(y, C(0)), static_cast<C>(height - 1));
    x = std::min(std::max(x, C(0)), static_cast<C>(width - 1));
    const auto top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
    const int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
    const C down = y - static_cast<C>(top), along = x - static_cast<C>(left);
    auto at = [&](int64_t i, int64_t j) { return scalar::cast<C>(plane[i * width + j]); };
    return (1 - down) * (1 - along) * at(top, left) + (1 - down) * along * at(top, right) +
           down * (1 - along) * at(bottom, left) + down * along * at(bottom, right);
  }

  RoiProblem problem;
};

Result<std::vector<ResultDesc>> inferRoi(const StepContext &context) {
  INGOT_TRY(RoiProblem problem, makeProblem(context));
  return denseResult(context, TensorDesc::contiguous(problem.x.dtype, {problem.boxes, problem.x.sizes[1],
                                                                       problem.output[0], problem.output[1]}));
}

Result<std::unique_ptr<BoundKernel>> bindRoi(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(RoiProblem problem, makeProblem(context));
  return dispatchType<FloatTypes>("roi_align", problem.x.dtype,
                                  [&]<typename T>() { return makeKernel<RoiAlign<T>>(std::move(problem)); });
}

} // namespace

extern const KernelDef kernelDef_roi_align = {"roi_align", inferRoi, bindRoi, false};

} // namespace ingot
