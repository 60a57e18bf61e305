// grid_sample: x at the places of a grid, for images and volumes. An image is a volume of depth 1.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ingot {
namespace {

enum class SampleMode : uint8_t { Bilinear, Nearest, Bicubic };
enum class SamplePadding : uint8_t { Zeros, Border, Reflection };

struct GridProblem {
  TensorDesc x, grid, result;
  size_t spatialRank = 2;
  std::array<int64_t, 3> in{1, 1, 1};
  int64_t places = 0; ///< of one image
  SampleMode mode = SampleMode::Bilinear;
  SamplePadding padding = SamplePadding::Zeros;
  bool alignCorners = false;
};

Status readAttributes(const StepContext &context, GridProblem &problem) {
  static constexpr std::array<std::string_view, 3> modes = {"bilinear", "nearest", "bicubic"};
  static constexpr std::array<std::string_view, 3> paddings = {"zeros", "border", "reflection"};
  INGOT_TRY(size_t mode, keywordAttr(context, "mode", modes));
  INGOT_TRY(size_t padding, keywordAttr(context, "padding", paddings));
  INGOT_TRY(problem.alignCorners, requiredAttr<bool>(context, "align_corners"));
  problem.mode = static_cast<SampleMode>(mode);
  problem.padding = static_cast<SamplePadding>(padding);
  if (problem.mode == SampleMode::Bicubic && problem.spatialRank != 2)
    return badStep(context, "bicubic samples are of images only");
  return {};
}

Result<GridProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 2));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *grid, tensorAt(context, 1));
  const size_t rank = x->sizes.size();
  if ((rank != 4 && rank != 5) || grid->sizes.size() != rank || grid->sizes[0] != x->sizes[0] ||
      grid->sizes.back() != static_cast<int64_t>(rank) - 2)
    return badShapes(context, "needs an image [N, C, ...] and a grid [N, ..., 2 or 3]");
  if (grid->dtype != x->dtype || context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "the operands and the result have different element types");
  GridProblem problem;
  problem.x = *x;
  problem.grid = *grid;
  problem.spatialRank = rank - 2;
  std::vector<int64_t> sizes{x->sizes[0], x->sizes[1]};
  for (size_t i = 0; i < rank - 2; ++i) {
    const int64_t size = x->sizes[i + 2];
    if (size < 1 || size > kMaxExtent)
      return badShapes(context, "a spatial size is out of range");
    problem.in[3 - problem.spatialRank + i] = size;
    sizes.push_back(grid->sizes[i + 1]);
  }
  problem.result = TensorDesc::contiguous(x->dtype, std::move(sizes));
  problem.places = 1;
  for (size_t i = 0; i < problem.spatialRank; ++i)
    problem.places *= grid->sizes[i + 1];
  INGOT_CHECK(readAttributes(context, problem));
  return problem;
}

template <typename T> class GridSample final : public BoundKernel {
  using C = scalar::Compute<T>;
  /// Positions along one dimension with their weights; -1 is outside.
  struct Taps {
    std::array<int64_t, 4> positions{};
    std::array<C, 4> weights{};
    size_t count = 1;
  };

public:
  explicit GridSample(GridProblem p) : problem(std::move(p)) {}

  Status run(const KernelArgs &args) const override {
    const int64_t channels = problem.x.sizes[1];
    const int64_t grain = std::max<int64_t>(1, 2048 / std::max<int64_t>(1, channels));
    parallelFor(0, problem.x.sizes[0] * problem.places, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        place(args, i / problem.places, i % problem.places);
    });
    return {};
  }

private:
  void place(const KernelArgs &args, int64_t n, int64_t at) const {
    const auto rank = static_cast<int64_t>(problem.spatialRank);
    const T *coordinates = static_cast<const T *>(args.operands[1]) + (n * problem.places + at) * rank;
    std::array<Taps, 3> taps;
    taps[0].weights[0] = C(1);
    for (int64_t i = 0; i < rank; ++i)
      taps[static_cast<size_t>(2 - i)] =
          tapsAt(unnormalized(scalar::cast<C>(coordinates[i]), problem.in[static_cast<size_t>(2 - i)]),
                 problem.in[static_cast<size_t>(2 - i)]);
    const int64_t channels = problem.x.sizes[1], plane = problem.in[0] * problem.in[1] * problem.in[2];
    const T *x = static_cast<const T *>(args.operands[0]) + n * channels * plane;
    T *result = static_cast<T *>(args.results[0]) + n * channels * problem.places + at;
    for (int64_t c = 0; c < channels; ++c)
      result[c * problem.places] = scalar::cast<T>(sum(x + c * plane, taps));
  }

  C sum(const T *x, const std::array<Taps, 3> &taps) const {
    C total(0);
    for (size_t i = 0; i < taps[0].count; ++i)
      for (size_t j = 0; j < taps[1].count; ++j) {
        C row(0);
        for (size_t k = 0; k < taps[2].count; ++k) {
          const int64_t d = taps[0].positions[i], h = taps[1].positions[j], w = taps[2].positions[k];
          if (d >= 0 && h >= 0 && w >= 0)
            row += scalar::cast<C>(x[(d * problem.in[1] + h) * problem.in[2] + w]) * taps[2].weights[k];
          else if (problem.spatialRank == 2)
            row += C(0) * taps[2].weights[k]; // NaN where the coordinate is none, as in PyTorch for images
        }
        total += row * taps[1].weights[j] * taps[0].weights[i];
      }
    return total;
  }

  C unnormalized(C coordinate, int64_t size) const {
    const C extent = static_cast<C>(size);
    return problem.alignCorners ? (coordinate + 1) / 2 * (extent - 1) : ((coordinate + 1) * extent - 1) / 2;
  }

  /// NaN becomes 0 in images, and the last position in volumes, as in PyTorch.
  C clipped(C x, int64_t size) const {
    const C last = static_cast<C>(size - 1);
    if (x != x)
      return problem.spatialRank == 2 ? C(0) : last;
    return std::clamp(x, C(0), last);
  }

  C reflected(C x, int64_t size) const {
    const C low = problem.alignCorners ? C(0) : C(-0.5);
    const C span = problem.alignCorners ? static_cast<C>(size - 1) : static_cast<C>(size);
    if (span == C(0))
      return C(0);
    x = std::abs(x - low);
    const C extra = std::fmod(x, span), flips = std::floor(x / span);
    return std::fmod(flips, C(2)) == C(0) ? extra + low : span - extra + low;
  }

  C bounded(C x, int64_t size) const {
    if (problem.padding == SamplePadding::Border)
      return clipped(x, size);
    if (problem.padding == SamplePadding::Reflection)
      return clipped(reflected(x, size), size);
    return x;
  }

  static int64_t inside(C x, int64_t size) {
    return x >= C(0) && x <= static_cast<C>(size - 1) ? static_cast<int64_t>(x) : -1;
  }

  Taps tapsAt(C x, int64_t size) const {
    Taps taps;
    if (problem.mode == SampleMode::Nearest) {
      taps.positions[0] = inside(scalar::round(bounded(x, size)), size);
      taps.weights[0] = C(1);
      return taps;
    }
    if (problem.mode == SampleMode::Bicubic)
      return cubicTaps(x, size);
    x = bounded(x, size);
    const C low = std::floor(x), t = x - low;
    taps.count = 2;
    taps.positions = {inside(low, size), inside(low + 1, size), 0, 0};
    taps.weights = {C(1) - t, t, C(0), C(0)};
    return taps;
  }

  /// Keys' kernel with a = -0.75; every tap is bounded by itself.
  Taps cubicTaps(C x, int64_t size) const {
    constexpr C a = C(-0.75);
    const C low = std::floor(x), t = x - low;
    auto near = [](C d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    auto far = [](C d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    Taps taps;
    taps.count = 4;
    taps.weights = {far(t + 1), near(t), near(1 - t), far(2 - t)};
    for (size_t i = 0; i < 4; ++i)
      taps.positions[i] = inside(bounded(low - 1 + static_cast<C>(i), size), size);
    return taps;
  }

  GridProblem problem;
};

Result<std::vector<ResultDesc>> inferGridSample(const StepContext &context) {
  INGOT_TRY(GridProblem problem, makeProblem(context));
  return denseResult(context, std::move(problem.result));
}

Result<std::unique_ptr<BoundKernel>> bindGridSample(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(GridProblem problem, makeProblem(context));
  return dispatchType<FloatTypes>("grid_sample", problem.x.dtype,
                                  [&]<typename T>() { return makeKernel<GridSample<T>>(std::move(problem)); });
}

} // namespace

extern const KernelDef kernelDef_grid_sample = {"grid_sample", inferGridSample, bindGridSample, false};

} // namespace ingot
