// Kernels that describe memory instead of moving it. Reshape has to copy where strides do not allow a view.
#include "base/Bytes.h"
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/view/CopyKernel.h"
#include "runtime/kernels/view/View.h"

#include <algorithm>

namespace ingot {

extern const KernelDef kernelDef_reshape;
extern const KernelDef kernelDef_expand;
extern const KernelDef kernelDef_permute;
extern const KernelDef kernelDef_slice;
extern const KernelDef kernelDef_as_strided;

Result<std::vector<int64_t>> dynamicListAttr(const StepContext &context, std::string_view name, size_t firstScalar) {
  INGOT_TRY(auto list, requiredAttr<std::vector<int64_t>>(context, name));
  size_t next = firstScalar;
  for (int64_t &entry : list) {
    if (entry != INT64_MIN)
      continue;
    if (next >= context.operands.size() || !context.operands[next].scalar)
      return badStep(context, "a dynamic entry of '" + std::string(name) + "' has no number");
    const int64_t *number = std::get_if<int64_t>(&*context.operands[next++].scalar);
    if (!number)
      return badStep(context, "a dynamic entry of '" + std::string(name) + "' is no integer");
    entry = *number;
  }
  if (next != context.operands.size())
    return badStep(context, "there are more numbers than dynamic entries");
  return list;
}

std::optional<std::vector<int64_t>> reshapeStrides(const TensorDesc &desc, std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size());
  if (desc.numel() == 0)
    return TensorDesc::contiguous(desc.dtype, {sizes.begin(), sizes.end()}).strides;
  // Groups of source dimensions that lie in memory like one are dealt out to target dimensions, both from
  // the innermost on. A group must be used up exactly where a target dimension ends.
  size_t target = sizes.size();
  int64_t groupCount = 1;
  int64_t takenCount = 1;
  int64_t groupStride = desc.sizes.empty() ? 1 : desc.strides.back();
  for (size_t i = desc.sizes.size(); i-- > 0;) {
    groupCount *= desc.sizes[i];
    bool groupEnds = i == 0 || (desc.sizes[i - 1] != 1 && desc.strides[i - 1] != groupCount * groupStride);
    if (!groupEnds)
      continue;
    while (target > 0 && (takenCount < groupCount || sizes[target - 1] == 1)) {
      strides[target - 1] = takenCount * groupStride;
      takenCount *= sizes[--target];
    }
    if (takenCount != groupCount)
      return std::nullopt;
    if (i > 0) {
      groupStride = desc.strides[i - 1];
      groupCount = takenCount = 1;
    }
  }
  while (target > 0)
    strides[--target] = 1;
  return strides;
}

Result<SliceRange> sliceRange(const StepContext &context, const TensorDesc &x, size_t firstScalar) {
  SliceRange range;
  INGOT_TRY(range.axis, axisAttr(context, "axis", x.sizes.size()));
  INGOT_TRY(auto bounds, dynamicListAttr(context, "bounds", firstScalar));
  INGOT_TRY(range.step, requiredAttr<int64_t>(context, "step"));
  if (bounds.size() != 2 || range.step < 1)
    return badStep(context, "bounds or step are not valid");
  int64_t size = x.sizes[static_cast<size_t>(range.axis)];
  // Numbers computed at run time are clamped as PyTorch clamps them.
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  range.start = clamp(bounds[0]);
  int64_t length = std::max<int64_t>(clamp(bounds[1]) - range.start, 0);
  range.count = length == 0 ? 0 : (length - 1) / range.step + 1;
  return range;
}

namespace {

std::vector<ResultDesc> oneView(TensorDesc desc, int64_t offset = 0) {
  std::vector<ResultDesc> results(1);
  results[0].desc = std::move(desc);
  results[0].viewOf = 0;
  results[0].viewOffset = offset;
  return results;
}

/// Replaces an entry of -1 by what the number of elements leaves for it.
Status completeSizes(const StepContext &context, int64_t count, std::vector<int64_t> &sizes) {
  auto unknown = std::ranges::find(sizes, -1);
  if (unknown != sizes.end()) {
    *unknown = 1;
    std::optional<int64_t> rest = checkedElementCount(sizes);
    if (!rest || *rest == 0 || count % *rest != 0)
      return badShapes(context, "the elements cannot be arranged in the new sizes");
    *unknown = count / *rest;
  }
  std::optional<int64_t> total = checkedElementCount(sizes);
  if (!total || *total != count)
    return badShapes(context, "the new sizes have another number of elements");
  return {};
}

Result<std::vector<ResultDesc>> inferReshape(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, SIZE_MAX));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(auto sizes, dynamicListAttr(context, "sizes", 1));
  INGOT_CHECK(completeSizes(context, x->numel(), sizes));
  if (auto strides = reshapeStrides(*x, sizes))
    return oneView({x->dtype, std::move(sizes), *std::move(strides)});
  return denseResult(context, TensorDesc::contiguous(x->dtype, std::move(sizes)));
}

Result<std::unique_ptr<BoundKernel>> bindReshape(const StepContext &context, std::span<const TensorDesc>) {
  const TensorDesc &x = context.operands[0].desc;
  TensorDesc rows = TensorDesc::contiguous(x.dtype, x.sizes);
  return makeCopyKernel(StridedCopy(x.sizes, x.strides, rows.strides, byteSize(x.dtype)));
}

Result<std::vector<ResultDesc>> inferExpand(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, SIZE_MAX));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(auto sizes, dynamicListAttr(context, "sizes", 1));
  if (sizes.size() < x->sizes.size())
    return badShapes(context, "expanding cannot remove dimensions");
  size_t added = sizes.size() - x->sizes.size();
  std::vector<int64_t> strides(sizes.size(), 0);
  for (size_t i = added; i < sizes.size(); ++i) {
    int64_t size = x->sizes[i - added];
    if (sizes[i] == -1)
      sizes[i] = size;
    if (sizes[i] == size)
      strides[i] = x->strides[i - added];
    else if (size != 1)
      return badShapes(context, "only dimensions of size 1 can be repeated");
  }
  if (!checkedElementCount(sizes))
    return badShapes(context, "the new sizes are impossible");
  return oneView({x->dtype, std::move(sizes), std::move(strides)});
}

Result<std::vector<ResultDesc>> inferPermute(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  size_t rank = x->sizes.size();
  INGOT_TRY(auto dims, listAttr(context, "dims", rank, 0, static_cast<int64_t>(rank) - 1));
  TensorDesc desc{x->dtype, {}, {}};
  std::vector<bool> seen(rank);
  for (int64_t dim : dims) {
    auto i = static_cast<size_t>(dim);
    if (seen[i])
      return badStep(context, "a dimension occurs twice");
    seen[i] = true;
    desc.sizes.push_back(x->sizes[i]);
    desc.strides.push_back(x->strides[i]);
  }
  return oneView(std::move(desc));
}

Result<std::vector<ResultDesc>> inferSlice(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 3));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(SliceRange range, sliceRange(context, *x, 1));
  auto axis = static_cast<size_t>(range.axis);
  TensorDesc desc = *x;
  desc.sizes[axis] = range.count;
  // A stride that overflows belongs to a single element, where it does not matter.
  desc.strides[axis] = checkedMul(x->strides[axis], range.step).value_or(0);
  int64_t offset = desc.numel() == 0 ? 0 : range.start * x->strides[axis];
  return oneView(std::move(desc), offset);
}

Result<std::vector<ResultDesc>> inferAsStrided(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(auto sizes, requiredAttr<std::vector<int64_t>>(context, "sizes"));
  INGOT_TRY(auto strides, listAttr(context, "strides", sizes.size(), 0, INT64_MAX));
  INGOT_TRY(int64_t offset, requiredAttr<int64_t>(context, "offset"));
  if (!checkedElementCount(sizes) || offset < 0)
    return badStep(context, "sizes or offset are impossible");
  return oneView({x->dtype, std::move(sizes), std::move(strides)}, offset);
}

} // namespace

const KernelDef kernelDef_reshape = {"reshape", inferReshape, bindReshape, true};
const KernelDef kernelDef_expand = {"expand", inferExpand, nullptr, true};
const KernelDef kernelDef_permute = {"permute", inferPermute, nullptr, true};
const KernelDef kernelDef_slice = {"slice", inferSlice, nullptr, true};
// Its strides are those of row-major memory, so that others are made row-major first.
const KernelDef kernelDef_as_strided = {"as_strided", inferAsStrided, nullptr, false};

} // namespace ingot
