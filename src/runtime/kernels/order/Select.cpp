// kth_value, median and mode: one element of every line, and where it is.
#include "runtime/kernels/order/Lines.h"
#include "runtime/kernels/view/View.h"

#include <numeric>

namespace ingot {
namespace {

/// A line's elements in the type they are compared in; a vector of booleans would have no elements to refer to.
template <typename T> auto readValues(const T *x, const Lines &lines) {
  using C = std::conditional_t<std::is_same_v<T, bool>, uint8_t, scalar::Compute<T>>;
  std::vector<C> values(static_cast<size_t>(lines.length));
  for (int64_t i = 0; i < lines.length; ++i)
    values[static_cast<size_t>(i)] = scalar::cast<C>(x[i * lines.inner]);
  return values;
}

/// Finds a position in every line by Find::find(values) and gives the element there.
template <typename T, typename Find> class PickOne final : public BoundKernel {
public:
  PickOne(Lines lines, Find find) : lines(std::move(lines)), finder(find) {}

  Status run(const KernelArgs &args) const override {
    lines.run([&](int64_t line) {
      const T *x = static_cast<const T *>(args.operands[0]) + lines.start(line, lines.length);
      const int64_t position = finder.find(readValues(x, lines));
      static_cast<T *>(args.results[0])[line] = x[position * lines.inner];
      static_cast<int64_t *>(args.results[1])[line] = position;
    });
    return {};
  }

private:
  Lines lines;
  Find finder;
};

template <typename Find>
Result<std::unique_ptr<BoundKernel>> makePick(const StepContext &context, const Lines &lines, Find find) {
  return dispatchType<RealTypes>(context.step.kernel, context.operands[0].desc.dtype,
                                 [&]<typename T>() { return makeKernel<PickOne<T, Find>>(lines, find); });
}

/// One element of every line, which must not be empty.
Result<std::vector<ResultDesc>> inferPick(const StepContext &context, const Lines &lines) {
  if (lines.length == 0 && lines.count() != 0)
    return badShapes(context, "an empty dimension has no element to pick");
  return valuesAndPositions(context, lines.sizesWith(1));
}

//===------------------------------------------------------------------------------------------===//
// kth_value
//===------------------------------------------------------------------------------------------===//

/// Quickselect with the median of three as pivot, as PyTorch does it: which of equal elements is found depends on it.
template <typename C> class QuickSelect {
public:
  explicit QuickSelect(std::vector<C> given) : values(std::move(given)), positions(values.size()) {
    std::iota(positions.begin(), positions.end(), int64_t(0));
  }

  int64_t find(int64_t k) {
    int64_t low = 0, high = static_cast<int64_t>(values.size()) - 1;
    while (high > low) {
      if (high == low + 1) {
        order(low, high);
        break;
      }
      const auto [left, right] = partition(low, high);
      if (right <= k)
        low = left;
      if (right >= k)
        high = right - 1;
    }
    return positions[static_cast<size_t>(k)];
  }

private:
  C &at(int64_t i) { return values[static_cast<size_t>(i)]; }
  void swap(int64_t a, int64_t b) {
    std::swap(at(a), at(b));
    std::swap(positions[static_cast<size_t>(a)], positions[static_cast<size_t>(b)]);
  }
  void order(int64_t a, int64_t b) {
    if (isGreater(at(a), at(b)))
      swap(a, b);
  }

  /// Elements below `right` are not greater than the pivot, which is there; those from `left` on are not less.
  std::pair<int64_t, int64_t> partition(int64_t low, int64_t high) {
    swap(low + (high - low) / 2, low + 1);
    order(low + 1, high);
    order(low, high);
    order(low + 1, low);
    const C pivot = at(low);
    int64_t left = low + 1, right = high;
    while (true) {
      do
        ++left;
      while (isGreater(pivot, at(left)));
      do
        --right;
      while (isGreater(at(right), pivot));
      if (right < left)
        break;
      swap(left, right);
    }
    swap(low, right);
    return {left, right};
  }

  std::vector<C> values;
  std::vector<int64_t> positions;
};

struct FindKth {
  int64_t k;
  template <typename C> int64_t find(std::vector<C> values) const { return QuickSelect<C>(std::move(values)).find(k); }
};

Result<int64_t> kthOf(const StepContext &context, const Lines &lines) {
  INGOT_TRY(auto k, dynamicListAttr(context, "k", 1));
  if (k.size() != 1 || k[0] < 1 || (k[0] > lines.length && lines.count() != 0))
    return badShapes(context, "k is not between 1 and the size of the dimension");
  return k[0] - 1;
}

Result<std::vector<ResultDesc>> inferKthValue(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 2, 2));
  INGOT_TRY(Lines lines, linesOf(context));
  INGOT_TRY(int64_t k, kthOf(context, lines));
  (void)k;
  return inferPick(context, lines);
}

Result<std::unique_ptr<BoundKernel>> bindKthValue(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(Lines lines, linesOf(context));
  INGOT_TRY(int64_t k, kthOf(context, lines));
  return makePick(context, lines, FindKth{k});
}

//===------------------------------------------------------------------------------------------===//
// median
//===------------------------------------------------------------------------------------------===//

struct FindMedian {
  bool ignoresNan;
  template <typename C> int64_t find(std::vector<C> values) const {
    auto isNan = [](C value) { return value != value; };
    const auto nan = std::ranges::find_if(values, isNan);
    if (!ignoresNan && nan != values.end())
      return nan - values.begin();
    const auto numbers = static_cast<int64_t>(values.size()) - std::ranges::count_if(values, isNan);
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), int64_t(0));
    const auto middle = order.begin() + std::max<int64_t>(0, (numbers - 1) / 2);
    std::nth_element(order.begin(), middle, order.end(), [&](int64_t a, int64_t b) {
      const C left = values[static_cast<size_t>(a)], right = values[static_cast<size_t>(b)];
      return isLess(left, right) || (!isLess(right, left) && a < b); // equal elements keep their order
    });
    return *middle;
  }
};

Result<std::vector<ResultDesc>> inferMedian(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1, 2));
  INGOT_TRY(Lines lines, linesOf(context));
  INGOT_TRY(bool ignoresNan, requiredAttr<bool>(context, "ignore_nan"));
  (void)ignoresNan;
  return inferPick(context, lines);
}

Result<std::unique_ptr<BoundKernel>> bindMedian(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(Lines lines, linesOf(context));
  INGOT_TRY(bool ignoresNan, requiredAttr<bool>(context, "ignore_nan"));
  return makePick(context, lines, FindMedian{ignoresNan});
}

//===------------------------------------------------------------------------------------------===//
// mode
//===------------------------------------------------------------------------------------------===//

/// The sort is not stable, and neither is PyTorch's: which of equal elements counts as the last depends on it.
struct FindMode {
  template <typename C> int64_t find(const std::vector<C> &values) const {
    std::vector<std::pair<C, int64_t>> entries;
    for (size_t i = 0; i < values.size(); ++i)
      entries.emplace_back(values[i], static_cast<int64_t>(i));
    std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) { return isLess(a.first, b.first); });
    int64_t best = 0, most = 0, run = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      ++run;
      if (i + 1 < entries.size() && entries[i].first == entries[i + 1].first)
        continue;
      if (run > most) {
        most = run;
        best = entries[i].second;
      }
      run = 0;
    }
    return best;
  }
};

Result<std::vector<ResultDesc>> inferMode(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1, 2));
  INGOT_TRY(Lines lines, linesOf(context));
  return inferPick(context, lines);
}

Result<std::unique_ptr<BoundKernel>> bindMode(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(Lines lines, linesOf(context));
  return makePick(context, lines, FindMode{});
}

} // namespace

extern const KernelDef kernelDef_kth_value = {"kth_value", inferKthValue, bindKthValue, false};
extern const KernelDef kernelDef_median = {"median", inferMedian, bindMedian, false};
extern const KernelDef kernelDef_mode = {"mode", inferMode, bindMode, false};

} // namespace ingot
