// The checks of pooling steps.
#include "runtime/kernels/pool/Pool.h"
#include "runtime/kernels/view/View.h"

#include <algorithm>

namespace ingot {
namespace {

/// x is [C, spatial…] or [N, C, spatial…].
Result<PoolProblem> startProblem(const StepContext &context, size_t spatialRank, size_t results,
                                 size_t maxOperands = 1) {
  INGOT_CHECK(checkCounts(context, 1, maxOperands, results));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  if (spatialRank < 1 || spatialRank > 3)
    return badStep(context, "pooling has one to three spatial dimensions");
  const size_t rank = x->sizes.size();
  if (rank != spatialRank + 1 && rank != spatialRank + 2)
    return badShapes(context, "the input has not " + std::to_string(spatialRank) + " spatial dimensions");
  PoolProblem problem;
  problem.x = *x;
  problem.spatialRank = spatialRank;
  problem.channels = x->sizes[rank - spatialRank - 1];
  problem.batch = rank == spatialRank + 2 ? x->sizes[0] : 1;
  for (size_t i = 0; i < spatialRank; ++i) {
    const int64_t size = x->sizes[rank - spatialRank + i];
    if (size > kMaxExtent)
      return badShapes(context, "a spatial size is out of range");
    problem.in[3 - spatialRank + i] = size;
  }
  return problem;
}

size_t kernelRank(const StepContext &context, std::string_view name) {
  return context.attr<std::vector<int64_t>>(name, {}).size();
}

struct Geometry {
  std::vector<int64_t> kernel, strides, padding, dilations;
  bool ceilMode = false;
};

Result<Geometry> readGeometry(const StepContext &context, bool hasDilations) {
  Geometry geometry;
  const size_t rank = kernelRank(context, "kernel");
  INGOT_TRY(geometry.kernel, listAttr(context, "kernel", rank, 1, kMaxExtent));
  INGOT_TRY(geometry.strides, listAttr(context, "strides", rank, 1, kMaxExtent));
  INGOT_TRY(geometry.padding, listAttr(context, "padding", rank, 0, kMaxExtent));
  INGOT_TRY(geometry.ceilMode, requiredAttr<bool>(context, "ceil_mode"));
  geometry.dilations.assign(rank, 1);
  if (hasDilations) {
    INGOT_TRY(geometry.dilations, listAttr(context, "dilations", rank, 1, kMaxExtent));
  }
  for (size_t i = 0; i < rank; ++i)
    if (geometry.padding[i] > (geometry.dilations[i] * (geometry.kernel[i] - 1) + 1) / 2)
      return badStep(context, "the padding is more than half of the kernel");
  return geometry;
}

/// PyTorch's rule: in ceil mode, a window that starts in the padding at the end is dropped.
int64_t outputSize(int64_t in, const Geometry &g, size_t i) {
  const int64_t stride = g.strides[i];
  const int64_t room = in + 2 * g.padding[i] - g.dilations[i] * (g.kernel[i] - 1) - 1 + (g.ceilMode ? stride - 1 : 0);
  if (room < 0)
    return 0;
  const int64_t size = room / stride + 1;
  return g.ceilMode && (size - 1) * stride >= in + g.padding[i] ? size - 1 : size;
}

PoolWindow makeWindow(int64_t in, const Geometry &g, size_t i, int64_t position) {
  const int64_t start = position * g.strides[i] - g.padding[i], step = g.dilations[i];
  const int64_t skipped = start < 0 ? (-start + step - 1) / step : 0;
  PoolWindow window{start + skipped * step, 0, step, 0};
  const int64_t end = std::min(start + g.kernel[i] * step, in);
  if (window.first < end)
    window.count = (end - window.first + step - 1) / step;
  window.padded = std::min(start + g.kernel[i], in + g.padding[i]) - start;
  return window;
}

/// Row-major, or channels-last where the input is.
void setResult(PoolProblem &problem, std::vector<int64_t> spatial) {
  const size_t kept = problem.x.sizes.size() - spatial.size();
  std::vector<int64_t> sizes(problem.x.sizes.begin(), problem.x.sizes.begin() + static_cast<ptrdiff_t>(kept));
  sizes.insert(sizes.end(), spatial.begin(), spatial.end());
  const bool keepsOrder = isChannelsLast(problem.x) && !problem.x.isContiguous() && kept == 2;
  problem.result = keepsOrder ? channelsLast(problem.x.dtype, std::move(sizes))
                              : TensorDesc::contiguous(problem.x.dtype, std::move(sizes));
}

Result<PoolProblem> windowedProblem(const StepContext &context, bool isMax) {
  INGOT_TRY(Geometry geometry, readGeometry(context, isMax));
  const size_t rank = geometry.kernel.size();
  INGOT_TRY(PoolProblem problem, startProblem(context, rank, isMax ? 2 : 1));
  std::vector<int64_t> spatial;
  for (size_t i = 0; i < 3; ++i) {
    if (i < 3 - rank) {
      problem.windows[i] = {PoolWindow{0, 1, 1, 1}};
      continue;
    }
    const size_t dim = i - (3 - rank);
    problem.out[i] = outputSize(problem.in[i], geometry, dim);
    if (problem.out[i] < 1 || problem.out[i] > kMaxExtent)
      return badShapes(context, "the kernel does not fit into the padded input");
    spatial.push_back(problem.out[i]);
    for (int64_t position = 0; position < problem.out[i]; ++position)
      problem.windows[i].push_back(makeWindow(problem.in[i], geometry, dim, position));
  }
  setResult(problem, std::move(spatial));
  return problem;
}

} // namespace

PoolProblem::Strides PoolProblem::stridesOf(const TensorDesc &desc) const {
  Strides strides;
  const size_t rank = desc.sizes.size();
  strides.channel = desc.strides[rank - spatialRank - 1];
  strides.batch = rank == spatialRank + 2 ? desc.strides[0] : 0;
  for (size_t i = 0; i < spatialRank; ++i)
    strides.spatial[3 - spatialRank + i] = desc.strides[rank - spatialRank + i];
  return strides;
}

Result<PoolProblem> maxPoolProblem(const StepContext &context) { return windowedProblem(context, true); }

Result<PoolProblem> avgPoolProblem(const StepContext &context) {
  INGOT_TRY(PoolProblem problem, windowedProblem(context, false));
  INGOT_TRY(problem.includePadding, requiredAttr<bool>(context, "count_include_pad"));
  INGOT_TRY(problem.divisor, requiredAttr<int64_t>(context, "divisor"));
  return problem;
}

namespace {

Result<PoolProblem> dividedProblem(const StepContext &context, std::vector<int64_t> output, bool isMax) {
  const size_t rank = output.size();
  INGOT_TRY(PoolProblem problem, startProblem(context, rank, isMax ? 2 : 1, isMax ? 4 : 1));
  problem.includePadding = false;
  const auto kept = std::span(problem.x.sizes).first(problem.x.sizes.size() - rank);
  const bool isEmpty = std::ranges::find(kept, 0) != kept.end();
  for (size_t i = 0; i < 3; ++i) {
    const int64_t in = problem.in[i];
    problem.out[i] = i < 3 - rank ? 1 : output[i - (3 - rank)];
    if (problem.out[i] < 0 || problem.out[i] > kMaxTable)
      return badShapes(context, "an output size is out of range");
    if (in == 0 && !isEmpty)
      return badShapes(context, "a spatial dimension is empty");
    for (int64_t position = 0; position < problem.out[i]; ++position) {
      const int64_t begin = position * in / problem.out[i];
      const int64_t end = ((position + 1) * in + problem.out[i] - 1) / problem.out[i];
      problem.windows[i].push_back({begin, end - begin, 1, end - begin});
    }
  }
  setResult(problem, std::move(output));
  return problem;
}

} // namespace

Result<PoolProblem> adaptivePoolProblem(const StepContext &context) {
  INGOT_TRY(auto output, listAttr(context, "output", kernelRank(context, "output"), 0, kMaxTable));
  return dividedProblem(context, std::move(output), false);
}

Result<PoolProblem> adaptiveMaxPoolProblem(const StepContext &context) {
  INGOT_TRY(auto output, dynamicListAttr(context, "output", 1));
  return dividedProblem(context, std::move(output), true);
}

} // namespace ingot
