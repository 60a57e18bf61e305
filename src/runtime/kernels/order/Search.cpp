// search_sorted: where values would go in sorted rows.
#include "runtime/kernels/order/Lines.h"

namespace ingot {
namespace {

struct SearchProblem {
  int64_t rowLength = 0;    ///< of the sequence
  int64_t rows = 1;         ///< of the sequence; with one, all values search in it
  int64_t valuesPerRow = 0; ///< of those that share a row
  bool isRight = false, hasSorter = false;
};

template <typename T> class Search final : public BoundKernel {
  using C = scalar::Compute<T>;

public:
  explicit Search(const SearchProblem &problem) : problem(problem) {}

  Status run(const KernelArgs &args) const override {
    const auto *sorter = problem.hasSorter ? static_cast<const int64_t *>(args.operands[2]) : nullptr;
    for (int64_t i = 0; sorter && i < problem.rows * problem.rowLength; ++i)
      if (sorter[i] < 0 || sorter[i] >= problem.rowLength)
        return usageError("search_sorted: sorter holds " + std::to_string(sorter[i]) +
                          ", which is no position in a row of " + std::to_string(problem.rowLength));
    const T *sequence = static_cast<const T *>(args.operands[0]), *values = static_cast<const T *>(args.operands[1]);
    auto *result = static_cast<int64_t *>(args.results[0]);
    parallelFor(0, problem.rows * problem.valuesPerRow, 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / problem.valuesPerRow * problem.rowLength;
        result[i] = find(sequence + row, sorter ? sorter + row : nullptr, scalar::cast<C>(values[i]));
      }
    });
    return {};
  }

private:
  /// Elements for which the test fails come before the place; NaN fails every test.
  int64_t find(const T *row, const int64_t *sorter, C value) const {
    int64_t low = 0, high = problem.rowLength;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const C element = scalar::cast<C>(row[sorter ? sorter[middle] : middle]);
      if (problem.isRight ? element > value : element >= value)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  SearchProblem problem;
};

Result<SearchProblem> makeProblem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 3));
  INGOT_TRY(const TensorDesc *sequence, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *values, tensorAt(context, 1));
  INGOT_TRY(const TensorDesc *sorter, optionalTensorAt(context, 2));
  SearchProblem problem;
  INGOT_TRY(problem.isRight, requiredAttr<bool>(context, "right"));
  if (sequence->sizes.empty() || sequence->dtype != values->dtype)
    return badStep(context, "sequence and values do not fit together");
  if (sorter && (sorter->sizes != sequence->sizes || sorter->dtype != DType::Int64))
    return badStep(context, "the sorter does not fit the sequence");
  problem.hasSorter = sorter != nullptr;
  problem.rowLength = sequence->sizes.back();
  if (sequence->sizes.size() == 1) {
    problem.valuesPerRow = values->numel();
    return problem;
  }
  bool fits = values->sizes.size() == sequence->sizes.size() &&
              std::equal(values->sizes.begin(), values->sizes.end() - 1, sequence->sizes.begin());
  if (!fits)
    return badShapes(context, "the sequence is neither one row nor one for each row of values");
  problem.valuesPerRow = values->sizes.back();
  for (size_t i = 0; i + 1 < sequence->sizes.size(); ++i)
    problem.rows *= sequence->sizes[i];
  return problem;
}

Result<std::vector<ResultDesc>> inferSearch(const StepContext &context) {
  INGOT_TRY(SearchProblem problem, makeProblem(context));
  (void)problem;
  if (context.resultTypes[0].dtype != DType::Int64)
    return badStep(context, "the result is not int64");
  return denseResult(context, TensorDesc::contiguous(DType::Int64, context.operands[1].desc.sizes));
}

Result<std::unique_ptr<BoundKernel>> bindSearch(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(SearchProblem problem, makeProblem(context));
  return dispatchType<RealTypes>(context.step.kernel, context.operands[0].desc.dtype,
                                 [&]<typename T>() { return makeKernel<Search<T>>(problem); });
}

} // namespace

extern const KernelDef kernelDef_search_sorted = {"search_sorted", inferSearch, bindSearch, false};

} // namespace ingot
