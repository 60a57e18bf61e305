// deform_columns: patches whose elements are read at shifted places, between the pixels.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <cmath>

namespace ingot {
namespace {

struct DeformProblem {
  TensorDesc x;
  std::vector<int64_t> kernel, strides, padding, dilations, places;
  int64_t groups = 1;
  bool hasMask = false;

  int64_t window() const { return kernel[0] * kernel[1]; }
};

Status checkShapes(const StepContext &context, DeformProblem &problem, const TensorDesc &offset) {
  if (problem.x.sizes.size() != 4 || offset.sizes.size() != 4 || offset.dtype != problem.x.dtype)
    return badShapes(context, "needs an image and offsets of four dimensions and one type");
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = problem.dilations[i] * (problem.kernel[i] - 1) + 1;
    const int64_t room = problem.x.sizes[i + 2] + 2 * problem.padding[i] - reach;
    if (room < 0 || problem.x.sizes[i + 2] > kMaxExtent)
      return badShapes(context, "the window does not fit into the image");
    problem.places.push_back(room / problem.strides[i] + 1);
  }
  const std::vector<int64_t> wanted{problem.x.sizes[0], 2 * problem.groups * problem.window(), problem.places[0],
                                    problem.places[1]};
  if (offset.sizes != wanted || problem.x.sizes[1] % problem.groups != 0)
    return badShapes(context, "the offsets do not fit the image");
  return {};
}

Result<DeformProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 3));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *offset, tensorAt(context, 1));
  DeformProblem problem;
  problem.x = *x;
  INGOT_TRY(problem.kernel, listAttr(context, "kernel", 2, 1, 1 << 15));
  INGOT_TRY(problem.strides, listAttr(context, "strides", 2, 1, kMaxExtent));
  INGOT_TRY(problem.padding, listAttr(context, "padding", 2, 0, kMaxExtent));
  INGOT_TRY(problem.dilations, listAttr(context, "dilations", 2, 1, kMaxExtent));
  INGOT_TRY(problem.groups, requiredAttr<int64_t>(context, "groups"));
  if (problem.groups < 1 || problem.groups > kMaxExtent || context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "the groups are out of range, or the result has the wrong type");
  INGOT_CHECK(checkShapes(context, problem, *offset));
  if (context.operands.size() == 3) {
    INGOT_TRY(const TensorDesc *mask, tensorAt(context, 2));
    problem.hasMask = true;
    const std::vector<int64_t> wanted{x->sizes[0], problem.groups * problem.window(), problem.places[0],
                                      problem.places[1]};
    if (mask->sizes != wanted || mask->dtype != x->dtype)
      return badShapes(context, "the mask does not fit the offsets");
  }
  return problem;
}

template <typename T> class DeformColumns final : public BoundKernel {
  using C = scalar::Compute<T>;

public:
  explicit DeformColumns(DeformProblem p) : problem(std::move(p)) {}

  Status run(const KernelArgs &args) const override {
    const int64_t rows = problem.x.sizes[1] * problem.window();
    parallelFor(0, problem.x.sizes[0] * rows, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        fillRow(args, i / rows, i % rows);
    });
    return {};
  }

private:
  /// Row `row` of the patches of image n: channel row / window at window position row % window.
  void fillRow(const KernelArgs &args, int64_t n, int64_t row) const {
    const int64_t window = problem.window(), channels = problem.x.sizes[1];
    const int64_t channel = row / window, k = row % window, group = channel / (channels / problem.groups);
    const int64_t count = problem.places[0] * problem.places[1];
    const T *plane =
        static_cast<const T *>(args.operands[0]) + (n * channels + channel) * problem.x.sizes[2] * problem.x.sizes[3];
    const T *offset =
        static_cast<const T *>(args.operands[1]) + ((n * problem.groups + group) * window + k) * 2 * count;
    const T *mask = problem.hasMask
                        ? static_cast<const T *>(args.operands[2]) + ((n * problem.groups + group) * window + k) * count
                        : nullptr;
    T *result = static_cast<T *>(args.results[0]) + (n * channels * window + row) * count;
    for (int64_t i = 0; i < count; ++i) {
      const C y = position(0, i / problem.places[1], k / problem.kernel[1]) + scalar::cast<C>(offset[i]);
      const C x = position(1, i % problem.places[1], k % problem.kernel[1]) + scalar::cast<C>(offset[count + i]);
      const C value = sample(plane, y, x);
      result[i] = scalar::cast<T>(mask ? value * scalar::cast<C>(mask[i]) : value);
    }
  }

  C position(size_t dim, int64_t place, int64_t k) const {
    return static_cast<C>(place * problem.strides[dim] - problem.padding[dim] + k * problem.dilations[dim]);
  }

  /// Zero outside of the image.
  C sample(const T *plane, C y, C x) const {
    const int64_t height = problem.x.sizes[2], width = problem.x.sizes[3];
    if (!(y > C(-1) && y < static_cast<C>(height) && x > C(-1) && x < static_cast<C>(width)))
      return C(0);
    const auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
    const C down = y - static_cast<C>(top), along = x - static_cast<C>(left);
    auto at = [&](int64_t i, int64_t j) {
      return i >= 0 && i < height && j >= 0 && j < width ? scalar::cast<C>(plane[i * width + j]) : C(0);
    };
    return (1 - down) * (1 - along) * at(top, left) + (1 - down) * along * at(top, left + 1) +
           down * (1 - along) * at(top + 1, left) + down * along * at(top + 1, left + 1);
  }

  DeformProblem problem;
};

Result<std::vector<ResultDesc>> inferDeform(const StepContext &context) {
  INGOT_TRY(DeformProblem problem, makeProblem(context));
  return denseResult(context,
                     TensorDesc::contiguous(problem.x.dtype, {problem.x.sizes[0], problem.x.sizes[1] * problem.window(),
                                                              problem.places[0] * problem.places[1]}));
}

Result<std::unique_ptr<BoundKernel>> bindDeform(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(DeformProblem problem, makeProblem(context));
  return dispatchType<FloatTypes>("deform_columns", problem.x.dtype,
                                  [&]<typename T>() { return makeKernel<DeformColumns<T>>(std::move(problem)); });
}

} // namespace

extern const KernelDef kernelDef_deform_columns = {"deform_columns", inferDeform, bindDeform, false};

} // namespace ingot
