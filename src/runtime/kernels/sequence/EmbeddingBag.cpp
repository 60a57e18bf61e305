// embedding_bag: rows of a table, summed, averaged or compared bag by bag.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

enum class BagMode : uint8_t { Sum, Mean, Max };

struct BagProblem {
  TensorDesc table;
  DType indexType = DType::Int64, offsetType = DType::Int64;
  int64_t indices = 0, offsets = 0, bags = 0, padding = -1;
  BagMode mode = BagMode::Sum;
  bool hasWeights = false;
};

bool isIndex(DType dtype) { return dtype == DType::Int64 || dtype == DType::Int32; }

Result<BagProblem> makeProblem(const StepContext &context) {
  static constexpr std::array<std::string_view, 3> modes = {"sum", "mean", "max"};
  INGOT_CHECK(checkCounts(context, 3, 4, 2));
  INGOT_TRY(const TensorDesc *table, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *indices, tensorAt(context, 1));
  INGOT_TRY(const TensorDesc *offsets, tensorAt(context, 2));
  INGOT_TRY(size_t mode, keywordAttr(context, "mode", modes));
  INGOT_TRY(bool includeLast, requiredAttr<bool>(context, "include_last_offset"));
  INGOT_TRY(int64_t padding, requiredAttr<int64_t>(context, "padding"));
  if (table->sizes.size() != 2 || indices->sizes.size() != 1 || offsets->sizes.size() != 1 ||
      !isIndex(indices->dtype) || !isIndex(offsets->dtype))
    return badShapes(context, "needs a table of rows, and lists of indices and offsets");
  BagProblem problem{*table,
                     indices->dtype,
                     offsets->dtype,
                     indices->sizes[0],
                     offsets->sizes[0],
                     offsets->sizes[0] - (includeLast ? 1 : 0),
                     padding,
                     static_cast<BagMode>(mode),
                     false};
  if (problem.bags < 0)
    return badShapes(context, "there is no last offset");
  if (context.operands.size() == 4) {
    INGOT_TRY(const TensorDesc *weights, tensorAt(context, 3));
    problem.hasWeights = true;
    if (weights->sizes != indices->sizes || weights->dtype != table->dtype || problem.mode != BagMode::Sum)
      return badShapes(context, "the weights are no list of one for each index, for sums");
  }
  if (context.resultTypes[0].dtype != table->dtype || context.resultTypes[1].dtype != DType::Int64)
    return badStep(context, "the results have the wrong element types");
  return problem;
}

int64_t readIndex(const void *data, DType dtype, int64_t i) {
  return dtype == DType::Int32 ? static_cast<const int32_t *>(data)[i] : static_cast<const int64_t *>(data)[i];
}

/// Rows of most tables.
INGOT_SIMD void addFloats(float *sum, const float *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sum[i] += row[i];
}

INGOT_SIMD void addScaledFloats(float *sum, const float *row, float weight, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sum[i] += row[i] * weight;
}

template <typename C, typename T> void addScaled(C *sum, const T *row, const C *weight, int64_t count) {
  if constexpr (std::is_same_v<T, float>)
    return weight ? addScaledFloats(sum, row, *weight, count) : addFloats(sum, row, count);
  for (int64_t i = 0; i < count; ++i)
    sum[i] += weight ? scalar::cast<C>(row[i]) * *weight : scalar::cast<C>(row[i]);
}

template <typename C, typename T> void takeLarger(C *sum, const T *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const C value = scalar::cast<C>(row[i]);
    sum[i] = value > sum[i] ? value : sum[i];
  }
}

template <typename T> class EmbeddingBag final : public BoundKernel {
  using C = scalar::Compute<T>;

public:
  explicit EmbeddingBag(BagProblem p) : problem(std::move(p)) {}

  size_t scratchBytes() const override { return static_cast<size_t>(problem.bags * width()) * sizeof(C); }

  Status run(const KernelArgs &args) const override {
    INGOT_CHECK(checkIndices(args));
    parallelFor(0, problem.bags, 8, [&](int64_t begin, int64_t end) {
      for (int64_t bag = begin; bag < end; ++bag)
        fill(args, bag);
    });
    return {};
  }

private:
  int64_t width() const { return problem.table.sizes[1]; }

  Status checkIndices(const KernelArgs &args) const {
    for (int64_t i = 0; i < problem.indices; ++i) {
      const int64_t index = readIndex(args.operands[1], problem.indexType, i);
      if (index < 0 || index >= problem.table.sizes[0])
        return usageError("embedding_bag: index " + std::to_string(index) + " is no row of the table");
    }
    int64_t last = 0;
    for (int64_t i = 0; i < problem.offsets; ++i) {
      const int64_t offset = readIndex(args.operands[2], problem.offsetType, i);
      if (offset < last || offset > problem.indices)
        return usageError("embedding_bag: the offsets must not fall, nor pass the last index");
      last = offset;
    }
    return {};
  }

  void fill(const KernelArgs &args, int64_t bag) const {
    auto offset = [&](int64_t i) {
      return i < problem.offsets ? readIndex(args.operands[2], problem.offsetType, i) : problem.indices;
    };
    C *sum = static_cast<C *>(args.scratch) + bag * width();
    std::fill_n(sum, width(), C(0));
    int64_t count = 0;
    for (int64_t i = offset(bag), end = offset(bag + 1); i < end; ++i) {
      const int64_t index = readIndex(args.operands[1], problem.indexType, i);
      if (index == problem.padding)
        continue;
      const T *row = static_cast<const T *>(args.operands[0]) + index * width();
      const C weight = problem.hasWeights ? scalar::cast<C>(static_cast<const T *>(args.operands[3])[i]) : C(1);
      if (problem.mode != BagMode::Max)
        addScaled(sum, row, problem.hasWeights ? &weight : nullptr, width());
      else if (count > 0)
        takeLarger(sum, row, width());
      else
        std::transform(row, row + width(), sum, [](const T &value) { return scalar::cast<C>(value); });
      ++count;
    }
    T *result = static_cast<T *>(args.results[0]) + bag * width();
    const C divisor = problem.mode == BagMode::Mean && count > 0 ? static_cast<C>(count) : C(1);
    for (int64_t i = 0; i < width(); ++i)
      result[i] = scalar::cast<T>(sum[i] / divisor);
    if (args.results[1])
      static_cast<int64_t *>(args.results[1])[bag] = count;
  }

  BagProblem problem;
};

Result<std::vector<ResultDesc>> inferBag(const StepContext &context) {
  INGOT_TRY(BagProblem problem, makeProblem(context));
  INGOT_TRY(auto results,
            denseResult(context, TensorDesc::contiguous(problem.table.dtype, {problem.bags, problem.table.sizes[1]})));
  INGOT_TRY(auto counts, denseResult(context, TensorDesc::contiguous(DType::Int64, {problem.bags})));
  results.push_back(std::move(counts[0]));
  return results;
}

Result<std::unique_ptr<BoundKernel>> bindBag(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(BagProblem problem, makeProblem(context));
  return dispatchType<FloatTypes>("embedding_bag", problem.table.dtype,
                                  [&]<typename T>() { return makeKernel<EmbeddingBag<T>>(std::move(problem)); });
}

} // namespace

extern const KernelDef kernelDef_embedding_bag = {"embedding_bag", inferBag, bindBag, false};

} // namespace ingot
