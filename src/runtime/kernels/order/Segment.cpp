// segment_reduce: one result for each piece of a dimension.
#include "runtime/kernels/order/Lines.h"

#include <array>
#include <cmath>

namespace ingot {
namespace {

enum class SegmentKind : uint8_t { Sum, Mean, Max, Min, Prod };

struct SegmentProblem {
  Lines lines;
  SegmentKind kind = SegmentKind::Sum;
  int64_t pieces = 0;
  double initial = 0;
  bool hasInitial = false;
};

template <typename T> class SegmentReduce final : public BoundKernel {
  using C = scalar::Compute<T>;

public:
  explicit SegmentReduce(SegmentProblem problem) : problem(std::move(problem)) {}

  Status run(const KernelArgs &args) const override {
    const Lines &lines = problem.lines;
    const auto *offsets = static_cast<const int64_t *>(args.operands[1]);
    INGOT_CHECK(checkOffsets(offsets));
    lines.run([&](int64_t line) {
      const T *x = static_cast<const T *>(args.operands[0]) + lines.start(line, lines.length);
      T *result = static_cast<T *>(args.results[0]) + lines.start(line, problem.pieces);
      const int64_t *bounds = offsets + line / lines.inner * (problem.pieces + 1);
      for (int64_t piece = 0; piece < problem.pieces; ++piece)
        result[piece * lines.inner] = scalar::cast<T>(reduce(x, bounds[piece], bounds[piece + 1]));
    });
    return {};
  }

private:
  Status checkOffsets(const int64_t *offsets) const {
    for (int64_t i = 0; i < problem.lines.outer * (problem.pieces + 1); ++i)
      if (offsets[i] < 0 || offsets[i] > problem.lines.length)
        return usageError("segment_reduce: offset " + std::to_string(offsets[i]) + " is outside a dimension of size " +
                          std::to_string(problem.lines.length));
    return {};
  }

  C neutral() const {
    switch (problem.kind) {
    case SegmentKind::Max:
      return -std::numeric_limits<C>::infinity();
    case SegmentKind::Min:
      return std::numeric_limits<C>::infinity();
    case SegmentKind::Prod:
      return C(1);
    default:
      return C(0);
    }
  }

  C combine(C a, C b) const {
    switch (problem.kind) {
    case SegmentKind::Max:
      return scalar::maximum(a, b);
    case SegmentKind::Min:
      return scalar::minimum(a, b);
    case SegmentKind::Prod:
      return a * b;
    default:
      return a + b;
    }
  }

  C reduce(const T *x, int64_t begin, int64_t end) const {
    C result = problem.hasInitial ? static_cast<C>(problem.initial) : neutral();
    for (int64_t i = begin; i < end; ++i)
      result = combine(result, scalar::cast<C>(x[i * problem.lines.inner]));
    if (problem.kind != SegmentKind::Mean || result != result)
      return result;
    if (end > begin)
      return result / static_cast<C>(end - begin);
    return problem.hasInitial ? result : std::numeric_limits<C>::quiet_NaN();
  }

  SegmentProblem problem;
};

Result<SegmentProblem> makeProblem(const StepContext &context) {
  static constexpr std::array<std::string_view, 5> kinds = {"sum", "mean", "max", "min", "prod"};
  INGOT_CHECK(checkCounts(context, 2, 2));
  SegmentProblem problem;
  INGOT_TRY(problem.lines, linesOf(context));
  INGOT_TRY(const TensorDesc *offsets, tensorAt(context, 1));
  INGOT_TRY(size_t kind, keywordAttr(context, "kind", kinds));
  INGOT_TRY(problem.initial, requiredAttr<double>(context, "initial"));
  INGOT_TRY(problem.hasInitial, requiredAttr<bool>(context, "has_initial"));
  problem.kind = static_cast<SegmentKind>(kind);
  const std::vector<int64_t> &sizes = problem.lines.sizes;
  bool fits = offsets->dtype == DType::Int64 && offsets->sizes.size() == problem.lines.axis + 1 &&
              offsets->sizes.back() >= 1 && std::equal(offsets->sizes.begin(), offsets->sizes.end() - 1, sizes.begin());
  if (!fits)
    return badShapes(context, "the offsets do not fit the dimensions up to the axis");
  problem.pieces = offsets->sizes.back() - 1;
  return problem;
}

Result<std::vector<ResultDesc>> inferSegment(const StepContext &context) {
  INGOT_TRY(SegmentProblem problem, makeProblem(context));
  const DType dtype = context.operands[0].desc.dtype;
  if (context.resultTypes[0].dtype != dtype)
    return badStep(context, "the result has the wrong element type");
  return denseResult(context, TensorDesc::contiguous(dtype, problem.lines.sizesWith(problem.pieces)));
}

Result<std::unique_ptr<BoundKernel>> bindSegment(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(SegmentProblem problem, makeProblem(context));
  return dispatchType<FloatTypes>(context.step.kernel, context.operands[0].desc.dtype,
                                  [&]<typename T>() { return makeKernel<SegmentReduce<T>>(problem); });
}

} // namespace

extern const KernelDef kernelDef_segment_reduce = {"segment_reduce", inferSegment, bindSegment, false};

} // namespace ingot
