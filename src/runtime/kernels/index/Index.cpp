// index_select and index: rows of a contiguous tensor at given positions.
#include "runtime/kernels/index/Index.h"

#include "base/MappedFile.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

int64_t product(std::span<const int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// The axes are consecutive; `sizes` are those that all indices broadcast to.
struct RowPick {
  std::vector<int64_t> axes, sizes;
};

/// Shorter rows are copied sooner than a file is read.
constexpr size_t kLongRow = 2048;

/// result[outer][i] = x[outer][position i], in rows of `bytes`. Positions in several axes make one row number.
class PickRows final : public BoundKernel {
public:
  PickRows(const StepContext &context, const RowPick &pick) {
    const TensorDesc &x = context.operands[0].desc;
    const std::span<const int64_t> sizes(x.sizes);
    const auto first = static_cast<size_t>(pick.axes.front()), last = static_cast<size_t>(pick.axes.back());
    outer = product(sizes.first(first));
    rows = product(sizes.subspan(first, last - first + 1));
    bytes = static_cast<size_t>(product(sizes.subspan(last + 1))) * byteSize(x.dtype);
    count = product(pick.sizes);
    for (size_t i = 0; i < pick.axes.size(); ++i) {
      const size_t axis = first + i;
      indices.emplace_back(context.step.kernel, context.operands[i + 1].desc, pick.sizes, sizes[axis],
                           countsFromEnd(context));
      rowStrides.push_back(product(sizes.subspan(axis + 1, last - axis)));
    }
    // A few rows of a large table, as embeddings are.
    if (context.operands[0].data && bytes >= kLongRow && count < rows / 8)
      file = PartReader::of(context.operands[0].data, static_cast<size_t>(outer * rows) * bytes);
  }

  size_t scratchBytes() const override { return static_cast<size_t>(count) * 2 * sizeof(int64_t); }

  Status run(const KernelArgs &args) const override {
    auto *positions = static_cast<int64_t *>(args.scratch);
    INGOT_CHECK(findRows(args, positions, positions + count));
    const auto *x = static_cast<const char *>(args.operands[0]);
    auto *result = static_cast<char *>(args.results[0]);
    const PartReader *reader = file && file->isOpen() ? file.get() : nullptr;
    const int64_t grain = std::max<int64_t>(1, 65536 / static_cast<int64_t>(std::max<size_t>(1, bytes)));
    parallelFor(0, outer * count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto source = static_cast<size_t>(i / count * rows + positions[i % count]);
        char *to = result + static_cast<size_t>(i) * bytes;
        if (reader)
          reader->read(to, x + source * bytes, bytes);
        else
          std::memcpy(to, x + source * bytes, bytes);
      }
    });
    return {};
  }

private:
  Status findRows(const KernelArgs &args, int64_t *result, int64_t *single) const {
    std::fill_n(result, count, 0);
    for (size_t a = 0; a < indices.size(); ++a) {
      INGOT_CHECK(indices[a].read(args.operands[a + 1], single));
      for (int64_t i = 0; i < count; ++i)
        result[i] += single[i] * rowStrides[a];
    }
    return {};
  }

  std::vector<Positions> indices;
  std::vector<int64_t> rowStrides;
  int64_t outer = 1, rows = 1, count = 1;
  size_t bytes = 0;
  std::shared_ptr<const PartReader> file; ///< where rows are read from, past the mapping
};

Result<RowPick> planIndexSelect(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 2));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *index, tensorAt(context, 1));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", x->sizes.size()));
  INGOT_CHECK(checkIndexType(context, *index));
  return RowPick{{axis}, index->sizes};
}

Result<RowPick> planIndex(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 65));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  const size_t count = context.operands.size() - 1;
  RowPick pick;
  INGOT_TRY(pick.axes, listAttr(context, "axes", count, 0, static_cast<int64_t>(x->sizes.size()) - 1));
  for (size_t i = 0; i < count; ++i) {
    INGOT_TRY(const TensorDesc *index, tensorAt(context, i + 1));
    INGOT_CHECK(checkIndexType(context, *index));
    INGOT_TRY(pick.sizes, broadcastSizes(context, pick.sizes, index->sizes));
    if (i > 0 && pick.axes[i] != pick.axes[i - 1] + 1)
      return badStep(context, "the indexed dimensions are not consecutive");
  }
  return pick;
}

template <Result<RowPick> (*plan)(const StepContext &)>
Result<std::vector<ResultDesc>> inferPick(const StepContext &context) {
  INGOT_TRY(RowPick pick, plan(context));
  const TensorDesc &x = context.operands[0].desc;
  if (context.resultTypes[0].dtype != x.dtype)
    return badStep(context, "the result has the wrong element type");
  std::vector<int64_t> sizes(x.sizes.begin(), x.sizes.begin() + pick.axes.front());
  sizes.insert(sizes.end(), pick.sizes.begin(), pick.sizes.end());
  sizes.insert(sizes.end(), x.sizes.begin() + pick.axes.back() + 1, x.sizes.end());
  // Broadcast indices may be more than their elements; the scratch for them must not overflow either.
  INGOT_TRY(auto scratch, denseResult(context, TensorDesc::contiguous(DType::Complex128, pick.sizes)));
  (void)scratch;
  return denseResult(context, TensorDesc::contiguous(x.dtype, std::move(sizes)));
}

template <Result<RowPick> (*plan)(const StepContext &)>
Result<std::unique_ptr<BoundKernel>> bindPick(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(RowPick pick, plan(context));
  return makeKernel<PickRows>(context, pick);
}

} // namespace

extern const KernelDef kernelDef_index_select = {"index_select", inferPick<planIndexSelect>, bindPick<planIndexSelect>,
                                                 false};
extern const KernelDef kernelDef_index = {"index", inferPick<planIndex>, bindPick<planIndex>, false};

} // namespace ingot
