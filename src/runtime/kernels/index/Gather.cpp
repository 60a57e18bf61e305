#include "runtime/kernels/index/Index.h"

#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

/// result has the index' sizes; the position replaces the coordinate along the axis.
class Gather final : public BoundKernel {
public:
  Gather(const StepContext &context, int64_t axis)
      : positions(context.step.kernel, context.operands[1].desc, context.operands[1].desc.sizes,
                  sizeAlong(context.operands[0].desc, axis), countsFromEnd(context)),
        sizes(context.operands[1].desc.sizes), strides(context.operands[0].desc.strides),
        axis(static_cast<size_t>(axis)), bytes(byteSize(context.operands[0].desc.dtype)) {}

  size_t scratchBytes() const override { return static_cast<size_t>(positions.count()) * sizeof(int64_t); }

  Status run(const KernelArgs &args) const override {
    auto *position = static_cast<int64_t *>(args.scratch);
    INGOT_CHECK(positions.read(args.operands[1], position));
    const auto *x = static_cast<const char *>(args.operands[0]);
    auto *result = static_cast<char *>(args.results[0]);
    parallelFor(0, positions.count(), 4096, [&](int64_t begin, int64_t end) {
      switch (bytes) {
      case 4:
        return copyElements<uint32_t>(x, result, position, begin, end);
      case 8:
        return copyElements<uint64_t>(x, result, position, begin, end);
      default:
        for (int64_t i = begin; i < end; ++i)
          std::memcpy(result + static_cast<size_t>(i) * bytes,
                      x + static_cast<size_t>(sourceOf(i, position[i])) * bytes, bytes);
      }
    });
    return {};
  }

private:
  /// Where a row of the index starts is found once for all of its elements.
  template <typename T>
  void copyElements(const char *x, char *result, const int64_t *position, int64_t begin, int64_t end) const {
    const auto *from = reinterpret_cast<const T *>(x);
    auto *to = reinterpret_cast<T *>(result);
    const size_t last = sizes.size() - 1;
    const bool isLast = axis == last;
    while (begin < end) {
      const int64_t column = begin % sizes[last], count = std::min(end - begin, sizes[last] - column);
      const int64_t start = sourceOf(begin - column, 0);
      for (int64_t j = 0; j < count; ++j) {
        const int64_t inRow = isLast ? 0 : (column + j) * strides[last];
        to[begin + j] = from[start + inRow + position[begin + j] * strides[axis]];
      }
      begin += count;
    }
  }

  static int64_t sizeAlong(const TensorDesc &x, int64_t axis) {
    return x.sizes.empty() ? 1 : x.sizes[static_cast<size_t>(axis)];
  }

  int64_t sourceOf(int64_t i, int64_t position) const {
    int64_t offset = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += (d == axis ? position : i % sizes[d]) * strides[d];
      i /= sizes[d];
    }
    return offset;
  }

  Positions positions;
  std::vector<int64_t> sizes, strides;
  size_t axis, bytes;
};

/// A zero-dimensional tensor has one dimension here, as in PyTorch.
Result<int64_t> gatherAxis(const StepContext &context) {
  return axisAttr(context, "axis", std::max<size_t>(1, context.operands[0].desc.sizes.size()));
}

Result<std::vector<ResultDesc>> inferGather(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 2));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *index, tensorAt(context, 1));
  INGOT_TRY(int64_t axis, gatherAxis(context));
  INGOT_CHECK(checkIndexType(context, *index));
  if (x->sizes.size() != index->sizes.size())
    return badShapes(context, "the index has not the input's number of dimensions");
  for (size_t i = 0; i < x->sizes.size(); ++i)
    if (i != static_cast<size_t>(axis) && index->sizes[i] > x->sizes[i])
      return badShapes(context, "the index is larger than the input");
  if (context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "the result has the wrong element type");
  return denseResult(context, TensorDesc::contiguous(x->dtype, index->sizes));
}

Result<std::unique_ptr<BoundKernel>> bindGather(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(int64_t axis, gatherAxis(context));
  return makeKernel<Gather>(context, axis);
}

} // namespace

extern const KernelDef kernelDef_gather = {"gather", inferGather, bindGather, false};

} // namespace ingot
