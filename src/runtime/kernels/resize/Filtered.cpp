// resize_filtered: columns first, then rows, with the weights of a filter that may widen. Images of bytes use weights of
// fixed point, as PyTorch does, so that every byte is the same.
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/resize/Resize.h"
#include "runtime/kernels/view/View.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

/// Which input positions, first, first + 1, …, with which weights make each result position.
struct FilterTable {
  size_t taps = 0;
  std::vector<int64_t> first, count;
  std::vector<double> weights;
};

struct FilteredProblem {
  TensorDesc x;
  std::array<int64_t, 2> in{}, out{};
  std::array<FilterTable, 2> tables;
};

struct FilterKind {
  bool isCubic = false, antialias = false, alignCorners = false;
};

template <typename C> C filterWeight(bool isCubic, C x) {
  x = std::abs(x);
  if (!isCubic)
    return x < C(1) ? C(1) - x : C(0);
  constexpr C a = C(-0.5);
  if (x < C(1))
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < C(2) ? (((x - 5) * x + 8) * x - 4) * a : C(0);
}

template <typename C> FilterTable widenedTable(const FilterKind &kind, double scale, int64_t in, int64_t out) {
  C step = scale > 0 ? static_cast<C>(1.0 / scale) : static_cast<C>(in) / static_cast<C>(out);
  if (kind.alignCorners)
    step = out > 1 ? static_cast<C>(in - 1) / static_cast<C>(out - 1) : C(0);
  const C reach = (kind.isCubic ? C(2) : C(1)) * std::max(step, C(1));
  const C inverse = step >= C(1) ? C(1) / step : C(1);
  FilterTable table;
  table.taps = static_cast<size_t>(std::min<double>(std::ceil(static_cast<double>(reach)) * 2 + 1, 2e9));
  table.taps = std::min(table.taps, static_cast<size_t>(in));
  table.weights.assign(static_cast<size_t>(out) * table.taps, 0.0);
  for (int64_t i = 0; i < out; ++i) {
    const C centre = step * (static_cast<C>(i) + C(0.5));
    auto position = [&](C x) { return x < static_cast<C>(in) ? std::max<int64_t>(static_cast<int64_t>(x), 0) : in; };
    const int64_t first = std::min(position(std::max(centre - reach + C(0.5), C(0))), in);
    const int64_t count =
        std::clamp<int64_t>(position(centre + reach + C(0.5)) - first, 0, static_cast<int64_t>(table.taps));
    std::vector<C> weights;
    C total(0);
    for (int64_t j = 0; j < count; ++j) {
      weights.push_back(filterWeight<C>(kind.isCubic, (static_cast<C>(j + first) - centre + C(0.5)) * inverse));
      total += weights.back();
    }
    for (int64_t j = 0; j < count; ++j)
      table.weights[static_cast<size_t>(i) * table.taps + static_cast<size_t>(j)] = static_cast<double>(
          total != C(0) ? weights[static_cast<size_t>(j)] / total : weights[static_cast<size_t>(j)]);
    table.first.push_back(std::min(first, in - 1));
    table.count.push_back(first < in ? count : 0);
  }
  return table;
}

/// The taps of plain interpolation, with those that fall on one border position added up.
FilterTable plainTable(const FilterKind &kind, double scale, int64_t in, int64_t out) {
  const ResizeTable plain = makeResizeTable(kind.isCubic ? ResizeMode::Cubic : ResizeMode::Linear, kind.alignCorners,
                                            scale, in, out, /*isDouble=*/true);
  FilterTable table;
  table.taps = plain.taps;
  table.weights.assign(static_cast<size_t>(out) * plain.taps, 0.0);
  for (int64_t i = 0; i < out; ++i) {
    const size_t start = static_cast<size_t>(i) * plain.taps;
    const int64_t first = plain.positions[start], last = plain.positions[start + plain.taps - 1];
    for (size_t j = 0; j < plain.taps; ++j)
      table.weights[start + static_cast<size_t>(plain.positions[start + j] - first)] += plain.weights[start + j];
    table.first.push_back(first);
    table.count.push_back(last - first + 1);
  }
  return table;
}

Result<FilteredProblem> makeProblem(const StepContext &context) {
  static constexpr std::array<std::string_view, 2> modes = {"linear", "cubic"};
  INGOT_CHECK(checkCounts(context, 1, 3));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(size_t mode, keywordAttr(context, "mode", modes));
  FilterKind kind;
  kind.isCubic = mode == 1;
  INGOT_TRY(kind.antialias, requiredAttr<bool>(context, "antialias"));
  INGOT_TRY(kind.alignCorners, requiredAttr<bool>(context, "align_corners"));
  INGOT_TRY(auto scales, requiredAttr<std::vector<double>>(context, "scales"));
  INGOT_TRY(auto sizes, dynamicListAttr(context, "sizes", 1));
  if (x->sizes.size() != 4 || sizes.size() != 2 || scales.size() != 2 || context.resultTypes[0].dtype != x->dtype)
    return badShapes(context, "needs an image [N, C, H, W], two sizes and two scales");
  FilteredProblem problem;
  problem.x = *x;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t in = x->sizes[i + 2], out = sizes[i];
    if (in < 1 || in > kMaxTable || out < 1 || out > kMaxTable || !std::isfinite(scales[i]) || scales[i] < 0)
      return badShapes(context, "a size or scale is out of range");
    problem.in[i] = in;
    problem.out[i] = out;
    const double step = scales[i] > 0 ? 1 / scales[i] : static_cast<double>(in) / static_cast<double>(out);
    const double taps = std::min(static_cast<double>(in), 4 * std::max(step, 1.0) + 3);
    if (taps * static_cast<double>(out) > static_cast<double>(kMaxTable))
      return badShapes(context, "the table of the filter's weights would be too large");
    const bool isWide = x->dtype == DType::Float64 || x->dtype == DType::UInt8;
    problem.tables[i] = !kind.antialias ? plainTable(kind, scales[i], in, out)
                        : isWide        ? widenedTable<double>(kind, scales[i], in, out)
                                        : widenedTable<float>(kind, scales[i], in, out);
  }
  return problem;
}

/// The weights as 16-bit integers with `precision` bits after the point.
struct FixedTable {
  std::vector<int32_t> weights;
  int precision = 0;

  explicit FixedTable(const FilterTable &table) {
    double largest = 0;
    for (double weight : table.weights)
      largest = std::max(largest, weight);
    while (precision < 22 && 0.5 + largest * static_cast<double>(1 << (precision + 1)) < 32768.0)
      ++precision;
    for (double weight : table.weights) {
      const double scaled = weight * static_cast<double>(1 << precision);
      weights.push_back(static_cast<int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
    }
  }
};

template <typename T> class FilteredResize final : public BoundKernel {
  using C = std::conditional_t<std::is_same_v<T, uint8_t>, int32_t, scalar::Compute<T>>;

public:
  explicit FilteredResize(FilteredProblem p) : problem(std::move(p)) {
    for (size_t i = 0; i < 2; ++i) {
      if constexpr (std::is_same_v<T, uint8_t>) {
        FixedTable fixed(problem.tables[i]);
        weights[i] = std::move(fixed.weights);
        precision[i] = fixed.precision;
      } else {
        for (double weight : problem.tables[i].weights)
          weights[i].push_back(static_cast<C>(weight));
      }
    }
  }

  size_t scratchBytes() const override {
    return static_cast<size_t>(planes() * problem.in[0] * problem.out[1]) * sizeof(T);
  }

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const T *>(args.operands[0]);
    auto *narrow = static_cast<T *>(args.scratch);
    auto *result = static_cast<T *>(args.results[0]);
    parallelFor(0, planes(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const T *image = x + plane * problem.in[0] * problem.in[1];
        T *columns = narrow + plane * problem.in[0] * problem.out[1];
        for (int64_t h = 0; h < problem.in[0]; ++h)
          for (int64_t w = 0; w < problem.out[1]; ++w)
            columns[h * problem.out[1] + w] = sample(1, w, image + h * problem.in[1], 1);
        T *target = result + plane * problem.out[0] * problem.out[1];
        for (int64_t h = 0; h < problem.out[0]; ++h)
          for (int64_t w = 0; w < problem.out[1]; ++w)
            target[h * problem.out[1] + w] = sample(0, h, columns + w, problem.out[1]);
      }
    });
    return {};
  }

private:
  int64_t planes() const { return problem.x.sizes[0] * problem.x.sizes[1]; }

  T sample(size_t dim, int64_t position, const T *line, int64_t stride) const {
    const FilterTable &table = problem.tables[dim];
    const int64_t first = table.first[static_cast<size_t>(position)],
                  count = table.count[static_cast<size_t>(position)];
    const C *weight = weights[dim].data() + static_cast<size_t>(position) * table.taps;
    if constexpr (std::is_same_v<T, uint8_t>) {
      int32_t sum = precision[dim] > 0 ? 1 << (precision[dim] - 1) : 0;
      for (int64_t j = 0; j < count; ++j)
        sum += weight[j] * static_cast<int32_t>(line[(first + j) * stride]);
      return static_cast<uint8_t>(std::clamp(sum >> precision[dim], 0, 255));
    } else {
      C sum(0);
      for (int64_t j = 0; j < count; ++j)
        sum += weight[j] * scalar::cast<C>(line[(first + j) * stride]);
      return scalar::cast<T>(sum);
    }
  }

  FilteredProblem problem;
  std::array<std::vector<C>, 2> weights;
  std::array<int, 2> precision{};
};

Result<std::vector<ResultDesc>> inferFiltered(const StepContext &context) {
  INGOT_TRY(FilteredProblem problem, makeProblem(context));
  return denseResult(context, TensorDesc::contiguous(problem.x.dtype, {problem.x.sizes[0], problem.x.sizes[1],
                                                                       problem.out[0], problem.out[1]}));
}

Result<std::unique_ptr<BoundKernel>> bindFiltered(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(FilteredProblem problem, makeProblem(context));
  if (problem.x.dtype == DType::UInt8)
    return makeKernel<FilteredResize<uint8_t>>(std::move(problem));
  return dispatchType<FloatTypes>("resize_filtered", problem.x.dtype,
                                  [&]<typename T>() { return makeKernel<FilteredResize<T>>(std::move(problem)); });
}

} // namespace

extern const KernelDef kernelDef_resize_filtered = {"resize_filtered", inferFiltered, bindFiltered, false};

} // namespace ingot
