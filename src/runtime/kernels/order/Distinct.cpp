// unique, bincount and repeat_index: how large their results are depends on the data.
#include "runtime/kernels/order/Lines.h"

#include <numeric>

namespace ingot {
namespace {

using Evaluated = Result<std::vector<EvaluatedResult>>;

template <typename T> T *dataOf(EvaluatedResult &result) { return reinterpret_cast<T *>(result.data.get()); }

//===------------------------------------------------------------------------------------------===//
// unique
//===------------------------------------------------------------------------------------------===//

/// The slices along one dimension, compared element by element.
template <typename T> class Slices {
  using C = scalar::Compute<T>;

public:
  Slices(const T *x, Lines lines) : x(x), lines(std::move(lines)) {}

  /// Equal slices keep their order.
  bool isBefore(int64_t a, int64_t b) const {
    for (int64_t line = 0; line < lines.count(); ++line) {
      const C left = at(a, line), right = at(b, line);
      if (isLess(left, right))
        return true;
      if (isLess(right, left))
        return false;
    }
    return a < b;
  }

  /// A NaN is equal to nothing.
  bool areEqual(int64_t a, int64_t b) const {
    for (int64_t line = 0; line < lines.count(); ++line)
      if (at(a, line) != at(b, line))
        return false;
    return true;
  }

  void copyTo(T *result, std::span<const int64_t> chosen) const {
    const auto length = static_cast<int64_t>(chosen.size());
    for (int64_t line = 0; line < lines.count(); ++line)
      for (int64_t i = 0; i < length; ++i)
        result[lines.start(line, length) + i * lines.inner] =
            x[lines.start(line, lines.length) + chosen[static_cast<size_t>(i)] * lines.inner];
  }

private:
  C at(int64_t slice, int64_t line) const {
    return scalar::cast<C>(x[lines.start(line, lines.length) + slice * lines.inner]);
  }

  const T *x;
  Lines lines;
};

template <typename T> Evaluated uniqueOf(const StepContext &context, const Lines &lines, bool isConsecutive) {
  const Slices<T> slices(static_cast<const T *>(context.operands[0].data), lines);
  std::vector<int64_t> order(static_cast<size_t>(lines.length)), chosen, counts;
  std::iota(order.begin(), order.end(), int64_t(0));
  if (!isConsecutive)
    std::ranges::sort(order, [&](int64_t a, int64_t b) { return slices.isBefore(a, b); });
  INGOT_TRY(EvaluatedResult inverse, evaluatedResult(context, DType::Int64, {lines.length}));
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !slices.areEqual(order[i - 1], order[i])) {
      chosen.push_back(order[i]);
      counts.push_back(0);
    }
    ++counts.back();
    dataOf<int64_t>(inverse)[order[i]] = static_cast<int64_t>(chosen.size()) - 1;
  }
  const auto found = static_cast<int64_t>(chosen.size());
  INGOT_TRY(EvaluatedResult values, evaluatedResult(context, context.operands[0].desc.dtype, lines.sizesWith(found)));
  slices.copyTo(dataOf<T>(values), chosen);
  INGOT_TRY(EvaluatedResult count, evaluatedResult(context, DType::Int64, {found}));
  std::ranges::copy(counts, dataOf<int64_t>(count));
  std::vector<EvaluatedResult> results;
  for (EvaluatedResult *result : {&values, &inverse, &count})
    results.push_back(std::move(*result));
  return results;
}

Evaluated evaluateUnique(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1, 3));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  if (x->sizes.empty())
    return badStep(context, "a zero-dimensional tensor has no slices");
  INGOT_TRY(bool isConsecutive, requiredAttr<bool>(context, "consecutive"));
  INGOT_TRY(Lines lines, linesOf(context));
  return dispatchType<RealTypes>(context.step.kernel, x->dtype,
                                 [&]<typename T>() { return uniqueOf<T>(context, lines, isConsecutive); });
}

//===------------------------------------------------------------------------------------------===//
// bincount
//===------------------------------------------------------------------------------------------===//

/// `Sum` is double, float or int64.
template <typename T, typename Sum>
Evaluated countInto(const StepContext &context, DType dtype, const Sum *weights, int64_t minimum) {
  const auto *x = static_cast<const T *>(context.operands[0].data);
  const int64_t count = context.operands[0].desc.numel();
  int64_t bins = minimum;
  for (int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<int64_t>(x[i]);
    if (number < 0)
      return usageError("bincount: counts numbers from 0 on, and " + std::to_string(number) + " is negative");
    if (number >= kMaxExtent)
      return usageError("bincount: " + std::to_string(number) + " is too large to be counted");
    bins = std::max(bins, number + 1);
  }
  INGOT_TRY(EvaluatedResult result, evaluatedResult(context, dtype, {bins}));
  for (int64_t i = 0; i < count; ++i)
    dataOf<Sum>(result)[static_cast<int64_t>(x[i])] += weights ? weights[i] : Sum(1);
  std::vector<EvaluatedResult> results;
  results.push_back(std::move(result));
  return results;
}

Evaluated evaluateBincount(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 2));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *weights, optionalTensorAt(context, 1));
  INGOT_TRY(int64_t minimum, requiredAttr<int64_t>(context, "minlength"));
  if (minimum < 0 || minimum > kMaxExtent || x->sizes.size() != 1 || (weights && weights->sizes != x->sizes))
    return badShapes(context, "takes a vector, weights of its size, and a minimum that is not negative");
  const void *data = weights ? context.operands[1].data : nullptr;
  return dispatchType<IntTypes>(context.step.kernel, x->dtype, [&]<typename T>() -> Evaluated {
    if (!weights)
      return countInto<T, int64_t>(context, DType::Int64, nullptr, minimum);
    if (weights->dtype == DType::Float32)
      return countInto<T, float>(context, DType::Float32, static_cast<const float *>(data), minimum);
    if (weights->dtype == DType::Float64)
      return countInto<T, double>(context, DType::Float64, static_cast<const double *>(data), minimum);
    return badType(context, weights->dtype);
  });
}

//===------------------------------------------------------------------------------------------===//
// repeat_index
//===------------------------------------------------------------------------------------------===//

template <typename T> Evaluated repeatPositions(const StepContext &context) {
  const auto *repeats = static_cast<const T *>(context.operands[0].data);
  const int64_t count = context.operands[0].desc.numel();
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto times = static_cast<int64_t>(repeats[i]);
    if (times < 0 || times > kMaxExtent)
      return usageError("repeat_index: an element cannot be repeated " + std::to_string(times) + " times");
    total += times;
  }
  INGOT_TRY(EvaluatedResult result, evaluatedResult(context, DType::Int64, {total}));
  int64_t *next = dataOf<int64_t>(result);
  for (int64_t i = 0; i < count; ++i)
    next = std::fill_n(next, static_cast<int64_t>(repeats[i]), i);
  std::vector<EvaluatedResult> results;
  results.push_back(std::move(result));
  return results;
}

Evaluated evaluateRepeatIndex(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *repeats, tensorAt(context, 0));
  if (repeats->sizes.size() != 1)
    return badShapes(context, "takes a vector");
  return dispatchType<IntTypes>(context.step.kernel, repeats->dtype,
                                [&]<typename T>() { return repeatPositions<T>(context); });
}

} // namespace

extern const KernelDef kernelDef_unique = {"unique", nullptr, nullptr, false, 0, evaluateUnique};
extern const KernelDef kernelDef_bincount = {"bincount", nullptr, nullptr, false, 0, evaluateBincount};
extern const KernelDef kernelDef_repeat_index = {"repeat_index", nullptr, nullptr, false, 0, evaluateRepeatIndex};

} // namespace ingot
