// sort and topk.
#include "runtime/kernels/order/Lines.h"
#include "runtime/kernels/view/View.h"

namespace ingot {
namespace {

template <typename T> struct Entry {
  scalar::Compute<T> value;
  int64_t position;
};

template <typename T> std::vector<Entry<T>> readLine(const T *x, const Lines &lines) {
  std::vector<Entry<T>> entries(static_cast<size_t>(lines.length));
  for (int64_t i = 0; i < lines.length; ++i)
    entries[static_cast<size_t>(i)] = {scalar::cast<scalar::Compute<T>>(x[i * lines.inner]), i};
  return entries;
}

template <typename T>
void writeLine(std::span<const Entry<T>> entries, const T *x, T *values, int64_t *positions, int64_t stride) {
  for (size_t i = 0; i < entries.size(); ++i) {
    const int64_t to = static_cast<int64_t>(i) * stride;
    values[to] = x[entries[i].position * stride]; // the element itself, so that no bit changes
    positions[to] = entries[i].position;
  }
}

//===------------------------------------------------------------------------------------------===//
// sort
//===------------------------------------------------------------------------------------------===//

struct SortProblem {
  Lines lines;
  bool isDescending = false, isStable = true;
};

template <typename T> class Sort final : public BoundKernel {
public:
  explicit Sort(SortProblem problem) : problem(std::move(problem)) {}

  Status run(const KernelArgs &args) const override {
    const Lines &lines = problem.lines;
    lines.run([&](int64_t line) {
      const int64_t start = lines.start(line, lines.length);
      const T *x = static_cast<const T *>(args.operands[0]) + start;
      std::vector<Entry<T>> entries = readLine(x, lines);
      if (problem.isDescending)
        sort(entries, [](const Entry<T> &a, const Entry<T> &b) { return isGreater(a.value, b.value); });
      else
        sort(entries, [](const Entry<T> &a, const Entry<T> &b) { return isLess(a.value, b.value); });
      writeLine<T>(entries, x, static_cast<T *>(args.results[0]) + start,
                   static_cast<int64_t *>(args.results[1]) + start, lines.inner);
    });
    return {};
  }

private:
  /// PyTorch's sort that is not stable is the standard library's, and so is the order of equal elements.
  template <typename Before> void sort(std::vector<Entry<T>> &entries, Before isBefore) const {
    if (!problem.isStable)
      return std::sort(entries.begin(), entries.end(), isBefore);
    std::sort(entries.begin(), entries.end(), [&](const Entry<T> &a, const Entry<T> &b) {
      return isBefore(a, b) || (!isBefore(b, a) && a.position < b.position);
    });
  }

  SortProblem problem;
};

Result<SortProblem> makeSort(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1, 2));
  SortProblem problem;
  INGOT_TRY(problem.lines, linesOf(context));
  INGOT_TRY(problem.isDescending, requiredAttr<bool>(context, "descending"));
  INGOT_TRY(problem.isStable, requiredAttr<bool>(context, "stable"));
  return problem;
}

Result<std::vector<ResultDesc>> inferSort(const StepContext &context) {
  INGOT_TRY(SortProblem problem, makeSort(context));
  return valuesAndPositions(context, problem.lines.sizes);
}

Result<std::unique_ptr<BoundKernel>> bindSort(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(SortProblem problem, makeSort(context));
  return dispatchType<RealTypes>(context.step.kernel, context.operands[0].desc.dtype,
                                 [&]<typename T>() { return makeKernel<Sort<T>>(problem); });
}

//===------------------------------------------------------------------------------------------===//
// topk
//===------------------------------------------------------------------------------------------===//

struct TopkProblem {
  Lines lines;
  int64_t k = 0;
  bool isLargest = true, isSorted = true;
};

/// Which of equal elements are taken follows from the algorithms of the standard library that PyTorch uses, and when.
template <typename T> class Topk final : public BoundKernel {
public:
  explicit Topk(TopkProblem problem) : problem(std::move(problem)) {}

  Status run(const KernelArgs &args) const override {
    const Lines &lines = problem.lines;
    if (problem.k == 0)
      return {};
    lines.run([&](int64_t line) {
      const T *x = static_cast<const T *>(args.operands[0]) + lines.start(line, lines.length);
      std::vector<Entry<T>> entries = readLine(x, lines);
      if (problem.isLargest)
        select(entries, [](const Entry<T> &a, const Entry<T> &b) { return isGreater(a.value, b.value); });
      else
        select(entries, [](const Entry<T> &a, const Entry<T> &b) { return isLess(a.value, b.value); });
      const int64_t to = lines.start(line, problem.k);
      writeLine<T>(std::span(entries).first(static_cast<size_t>(problem.k)), x, static_cast<T *>(args.results[0]) + to,
                   static_cast<int64_t *>(args.results[1]) + to, lines.inner);
    });
    return {};
  }

private:
  template <typename Before> void select(std::vector<Entry<T>> &entries, Before isBefore) const {
    const auto begin = entries.begin(), end = entries.end();
    if (problem.k * 64 <= problem.lines.length) {
      std::partial_sort(begin, begin + problem.k, end, isBefore);
      return;
    }
    std::nth_element(begin, begin + problem.k - 1, end, isBefore);
    if (problem.isSorted)
      std::sort(begin, begin + problem.k - 1, isBefore);
  }

  TopkProblem problem;
};

Result<TopkProblem> makeTopk(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 2, 2));
  TopkProblem problem;
  INGOT_TRY(problem.lines, linesOf(context));
  INGOT_TRY(auto k, dynamicListAttr(context, "k", 1));
  INGOT_TRY(problem.isLargest, requiredAttr<bool>(context, "largest"));
  INGOT_TRY(problem.isSorted, requiredAttr<bool>(context, "sorted"));
  if (k.size() != 1 || k[0] < 0 || k[0] > problem.lines.length)
    return badShapes(context, "k is not between 0 and the size of the dimension");
  problem.k = k[0];
  return problem;
}

Result<std::vector<ResultDesc>> inferTopk(const StepContext &context) {
  INGOT_TRY(TopkProblem problem, makeTopk(context));
  return valuesAndPositions(context, problem.lines.sizesWith(problem.k));
}

Result<std::unique_ptr<BoundKernel>> bindTopk(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(TopkProblem problem, makeTopk(context));
  return dispatchType<RealTypes>(context.step.kernel, context.operands[0].desc.dtype,
                                 [&]<typename T>() { return makeKernel<Topk<T>>(problem); });
}

} // namespace

extern const KernelDef kernelDef_sort = {"sort", inferSort, bindSort, false};
extern const KernelDef kernelDef_topk = {"topk", inferTopk, bindTopk, false};

} // namespace ingot
