// The checks of a resize step, and the choice between implementations.
#include "runtime/kernels/resize/Resize.h"

#include <cmath>
#include <limits>

namespace ingot {
namespace {

/// Sizes, with entries that are INT64_MIN taken from the step's scalar operands.
Result<std::vector<int64_t>> readSizes(const StepContext &context, size_t rank) {
  INGOT_TRY(auto sizes, listAttr(context, "sizes", rank, std::numeric_limits<int64_t>::min(), kMaxTable));
  size_t next = 1;
  for (int64_t &size : sizes) {
    if (size == std::numeric_limits<int64_t>::min()) {
      if (next >= context.operands.size() || !context.operands[next].scalar)
        return badStep(context, "a dynamic size has no operand");
      const auto *value = std::get_if<int64_t>(&*context.operands[next++].scalar);
      if (!value)
        return badStep(context, "a dynamic size is no integer");
      size = *value;
    }
    if (size < 1 || size > kMaxTable)
      return badShapes(context, "a size is out of range: " + std::to_string(size));
  }
  return sizes;
}

Result<std::vector<double>> readScales(const StepContext &context, size_t rank) {
  INGOT_TRY(auto scales, requiredAttr<std::vector<double>>(context, "scales"));
  if (scales.size() != rank)
    return badStep(context, "attribute 'scales' has the wrong number of entries");
  for (double scale : scales)
    if (!std::isfinite(scale) || scale < 0)
      return badStep(context, "attribute 'scales' is out of range");
  return scales;
}

Result<ResizeProblem> makeProblem(const StepContext &context) {
  static constexpr std::array<std::string_view, 4> modes = {"nearest", "nearest_exact", "linear", "cubic"};
  INGOT_CHECK(checkCounts(context, 1, 4));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  if (x->sizes.size() < 3 || x->sizes.size() > 5)
    return badShapes(context, "the input has not one to three spatial dimensions");
  const size_t rank = x->sizes.size() - 2;
  ResizeProblem problem;
  INGOT_TRY(size_t mode, keywordAttr(context, "mode", modes));
  problem.mode = static_cast<ResizeMode>(mode);
  INGOT_TRY(bool alignCorners, requiredAttr<bool>(context, "align_corners"));
  INGOT_TRY(auto scales, readScales(context, rank));
  INGOT_TRY(auto sizes, readSizes(context, rank));
  problem.x = *x;
  for (size_t i = 0; i < 3; ++i) {
    const bool isReal = i >= 3 - rank;
    const size_t dim = isReal ? i - (3 - rank) : 0;
    const int64_t in = isReal ? x->sizes[dim + 2] : 1, out = isReal ? sizes[dim] : 1;
    if (in < 1 || in > kMaxExtent)
      return badShapes(context, "a spatial size is out of range");
    problem.out[i] = out;
    const ResizeMode used = isReal ? problem.mode : ResizeMode::Nearest;
    problem.tables[i] =
        makeResizeTable(used, alignCorners, isReal ? scales[dim] : 0, in, out, x->dtype == DType::Float64);
  }
  std::vector<int64_t> resultSizes{x->sizes[0], x->sizes[1]};
  resultSizes.insert(resultSizes.end(), sizes.begin(), sizes.end());
  problem.result = isChannelsLast(*x) && !x->isContiguous() ? channelsLast(x->dtype, std::move(resultSizes))
                                                            : TensorDesc::contiguous(x->dtype, std::move(resultSizes));
  return problem;
}

Result<std::vector<ResultDesc>> inferResize(const StepContext &context) {
  INGOT_TRY(ResizeProblem problem, makeProblem(context));
  if (context.resultTypes[0].dtype != problem.x.dtype)
    return badStep(context, "the result has the wrong element type");
  return denseResult(context, std::move(problem.result));
}

Result<std::unique_ptr<BoundKernel>> bindResize(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(ResizeProblem problem, makeProblem(context));
  if (problem.x.dtype == DType::Float32 && isChannelsLast(problem.x) && isChannelsLast(problem.result))
    return makeFastResize(std::move(problem));
  return makeReferenceResize(std::move(problem));
}

} // namespace

ResizeProblem::Strides ResizeProblem::stridesOf(const TensorDesc &desc) {
  Strides strides{desc.strides[0], desc.strides[1], {}};
  const size_t rank = desc.sizes.size() - 2;
  for (size_t i = 0; i < rank; ++i)
    strides.spatial[3 - rank + i] = desc.strides[i + 2];
  return strides;
}

extern const KernelDef kernelDef_resize = {"resize", inferResize, bindResize, true};

} // namespace ingot
