// pad: every dimension has a table that says which input position a result position shows.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace ingot {
namespace {

enum class PadMode : uint8_t { Constant, Reflect, Replicate, Circular };

struct PadProblem {
  TensorDesc x, result;
  std::vector<int64_t> low, high;
  PadMode mode = PadMode::Constant;
  double value = 0;
};

/// Whether the mode is defined for a dimension of `size`: a reflection needs something to reflect.
bool allows(PadMode mode, int64_t size, int64_t amount) {
  switch (mode) {
  case PadMode::Constant:
    return true;
  case PadMode::Reflect:
    return amount < size;
  case PadMode::Replicate:
    return size > 0 || amount <= 0;
  case PadMode::Circular:
    return amount <= size;
  }
  return false;
}

Result<PadProblem> makeProblem(const StepContext &context) {
  static constexpr std::array<std::string_view, 4> modes = {"constant", "reflect", "replicate", "circular"};
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  const size_t rank = x->sizes.size();
  PadProblem problem;
  problem.x = *x;
  INGOT_TRY(problem.low, listAttr(context, "low", rank, -kMaxExtent, kMaxTable));
  INGOT_TRY(problem.high, listAttr(context, "high", rank, -kMaxExtent, kMaxTable));
  INGOT_TRY(size_t mode, keywordAttr(context, "mode", modes));
  INGOT_TRY(problem.value, requiredAttr<double>(context, "value"));
  problem.mode = static_cast<PadMode>(mode);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = x->sizes[i] + problem.low[i] + problem.high[i];
    const bool isAllowed =
        allows(problem.mode, x->sizes[i], problem.low[i]) && allows(problem.mode, x->sizes[i], problem.high[i]);
    const bool isPadded = problem.low[i] != 0 || problem.high[i] != 0;
    const bool isHuge = x->sizes[i] > (int64_t(1) << 48); // so that the sum above cannot have wrapped
    if (size < 0 || isHuge || (isPadded && !isAllowed))
      return badShapes(context, "dimension " + std::to_string(i) + " cannot be padded by " +
                                    std::to_string(problem.low[i]) + " and " + std::to_string(problem.high[i]));
    sizes.push_back(size);
  }
  problem.result = denseLike(x->dtype, std::move(sizes), *x);
  return problem;
}

/// The input position shown at `position`; -1 for the constant.
int64_t sourceOf(PadMode mode, int64_t size, int64_t position) {
  if (position >= 0 && position < size)
    return position;
  switch (mode) {
  case PadMode::Constant:
    return -1;
  case PadMode::Reflect:
    return position < 0 ? -position : 2 * (size - 1) - position;
  case PadMode::Replicate:
    return position < 0 ? 0 : size - 1;
  case PadMode::Circular:
    return position < 0 ? position + size : position - size;
  }
  return -1;
}

class Pad final : public BoundKernel {
public:
  Pad(const PadProblem &problem, std::array<std::byte, 16> fill)
      : fill(fill), bytes(byteSize(problem.x.dtype)), total(problem.result.numel()) {
    std::vector<size_t> order(problem.result.sizes.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::ranges::sort(order, [&](size_t a, size_t b) {
      const int64_t left = problem.result.strides[a], right = problem.result.strides[b];
      return left != right ? left > right : a < b;
    });
    for (size_t i : order) {
      Dim dim{{}, problem.x.strides[i], problem.result.strides[i]};
      for (int64_t p = 0; p < problem.result.sizes[i]; ++p)
        dim.source.push_back(sourceOf(problem.mode, problem.x.sizes[i], p - problem.low[i]));
      dims.push_back(std::move(dim));
    }
    if (dims.empty())
      dims.push_back({{0}, 0, 0});
  }

  Status run(const KernelArgs &args) const override {
    if (total == 0)
      return {};
    const auto length = static_cast<int64_t>(dims.back().source.size());
    parallelFor(0, total / length, std::max<int64_t>(1, 16384 / length), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        copyRow(args, row);
    });
    return {};
  }

private:
  struct Dim {
    std::vector<int64_t> source;
    int64_t from, to; ///< strides
  };

  void copyRow(const KernelArgs &args, int64_t row) const {
    int64_t from = 0, to = 0;
    bool isConstant = false;
    for (size_t d = dims.size() - 1; d-- > 0;) {
      const auto size = static_cast<int64_t>(dims[d].source.size());
      const int64_t source = dims[d].source[static_cast<size_t>(row % size)];
      isConstant = isConstant || source < 0;
      from += source * dims[d].from;
      to += row % size * dims[d].to;
      row /= size;
    }
    const Dim &inner = dims.back();
    const char *x = static_cast<const char *>(args.operands[0]);
    char *result = static_cast<char *>(args.results[0]);
    for (size_t i = 0; i < inner.source.size();) {
      char *target = result + (to + static_cast<int64_t>(i) * inner.to) * static_cast<int64_t>(bytes);
      if (isConstant || inner.source[i] < 0) {
        std::memcpy(target, fill.data(), bytes);
        ++i;
        continue;
      }
      const size_t run = inner.from == 1 && inner.to == 1 ? runLength(i) : 1;
      std::memcpy(target, x + (from + inner.source[i] * inner.from) * static_cast<int64_t>(bytes), run * bytes);
      i += run;
    }
  }

  /// Positions from `i` on that lie side by side in the input.
  size_t runLength(size_t i) const {
    const std::vector<int64_t> &source = dims.back().source;
    size_t end = i + 1;
    while (end < source.size() && source[end] == source[end - 1] + 1)
      ++end;
    return end - i;
  }

  std::vector<Dim> dims; ///< outermost first, in the result's memory order
  std::array<std::byte, 16> fill;
  size_t bytes;
  int64_t total;
};

Result<std::vector<ResultDesc>> inferPad(const StepContext &context) {
  INGOT_TRY(PadProblem problem, makeProblem(context));
  if (context.resultTypes[0].dtype != problem.x.dtype)
    return badStep(context, "the result has the wrong element type");
  return denseResult(context, std::move(problem.result));
}

Result<std::unique_ptr<BoundKernel>> bindPad(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(PadProblem problem, makeProblem(context));
  return dispatchType<EveryType>(context.step.kernel, problem.x.dtype, [&]<typename T>() {
    std::array<std::byte, 16> fill{};
    const T value = scalar::cast<T>(problem.value);
    std::memcpy(fill.data(), &value, sizeof(T));
    return makeKernel<Pad>(problem, fill);
  });
}

} // namespace

extern const KernelDef kernelDef_pad = {"pad", inferPad, bindPad, true};

} // namespace ingot
