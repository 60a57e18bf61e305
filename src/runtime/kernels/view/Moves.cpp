// Kernels that move data without computing: copy, flip, insert_slice, concat.
#include "base/Bytes.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/view/CopyKernel.h"
#include "runtime/kernels/view/View.h"

namespace ingot {

extern const KernelDef kernelDef_copy;
extern const KernelDef kernelDef_flip;
extern const KernelDef kernelDef_insert_slice;
extern const KernelDef kernelDef_concat;

namespace {

struct CopyKernel : BoundKernel {
  StridedCopy copy;
  int64_t srcOffsetBytes = 0;

  Status run(const KernelArgs &args) const override {
    copy.run(static_cast<const std::byte *>(args.operands[0]) + srcOffsetBytes, args.results[0]);
    return {};
  }
};

StridedCopy copyBetween(const TensorDesc &src, const TensorDesc &dst) {
  return {src.sizes, src.strides, dst.strides, byteSize(src.dtype)};
}

//===----------------------------------------------------------------------===//
// copy, flip
//===----------------------------------------------------------------------===//

Result<std::vector<ResultDesc>> inferCopy(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  return denseResult(context, TensorDesc::contiguous(x->dtype, x->sizes));
}

Result<std::unique_ptr<BoundKernel>> bindCopy(const StepContext &context, std::span<const TensorDesc> results) {
  return makeCopyKernel(copyBetween(context.operands[0].desc, results[0]));
}

Result<std::unique_ptr<BoundKernel>> bindFlip(const StepContext &context, std::span<const TensorDesc> results) {
  TensorDesc src = context.operands[0].desc;
  INGOT_TRY(auto dims, requiredAttr<std::vector<int64_t>>(context, "dims"));
  int64_t offset = 0;
  for (int64_t dim : dims) {
    auto i = static_cast<size_t>(dim);
    offset += (src.sizes[i] - 1) * src.strides[i];
    src.strides[i] = -src.strides[i];
  }
  return makeCopyKernel(copyBetween(src, results[0]), offset * static_cast<int64_t>(byteSize(src.dtype)));
}

Result<std::vector<ResultDesc>> inferFlip(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(auto dims, requiredAttr<std::vector<int64_t>>(context, "dims"));
  std::vector<bool> seen(x->sizes.size());
  for (int64_t dim : dims) {
    if (dim < 0 || static_cast<size_t>(dim) >= seen.size() || seen[static_cast<size_t>(dim)])
      return badStep(context, "attribute 'dims' is not valid");
    seen[static_cast<size_t>(dim)] = true;
  }
  return denseResult(context, denseLike(x->dtype, x->sizes, *x));
}

//===----------------------------------------------------------------------===//
// insert_slice
//===----------------------------------------------------------------------===//

struct InsertSliceKernel : BoundKernel {
  StridedCopy base;
  StridedCopy slice;
  int64_t offsetBytes = 0;

  Status run(const KernelArgs &args) const override {
    // A state (a key/value cache, say) is updated where it is.
    if (args.operands[0] != args.results[0])
      base.run(args.operands[0], args.results[0]);
    // What was made where it belongs is there already.
    std::byte *target = static_cast<std::byte *>(args.results[0]) + offsetBytes;
    if (args.operands[1] != target)
      slice.run(args.operands[1], target);
    return {};
  }
};

Result<std::vector<ResultDesc>> inferInsertSlice(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 2, 4));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *source, tensorAt(context, 1));
  INGOT_TRY(SliceRange range, sliceRange(context, *x, 2));
  std::vector<int64_t> sizes = x->sizes;
  sizes[static_cast<size_t>(range.axis)] = range.count;
  if (source->dtype != x->dtype || source->sizes != sizes)
    return badShapes(context, "the source does not fit the slice");
  return denseResult(context, denseLike(x->dtype, x->sizes, *x));
}

Result<std::unique_ptr<BoundKernel>> bindInsertSlice(const StepContext &context, std::span<const TensorDesc> results) {
  const TensorDesc &x = context.operands[0].desc;
  const TensorDesc &source = context.operands[1].desc;
  INGOT_TRY(SliceRange range, sliceRange(context, x, 2));
  auto axis = static_cast<size_t>(range.axis);
  auto kernel = std::make_unique<InsertSliceKernel>();
  kernel->base = copyBetween(x, results[0]);
  std::vector<int64_t> strides = results[0].strides;
  int64_t offset = range.count == 0 ? 0 : range.start * strides[axis];
  kernel->offsetBytes = offset * static_cast<int64_t>(byteSize(x.dtype));
  strides[axis] = checkedMul(strides[axis], range.step).value_or(0);
  kernel->slice = StridedCopy(source.sizes, source.strides, strides, byteSize(x.dtype));
  return std::unique_ptr<BoundKernel>(std::move(kernel));
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

struct ConcatKernel : BoundKernel {
  struct Part {
    size_t operand;
    StridedCopy copy;
    int64_t offsetBytes;
  };
  std::vector<Part> parts;

  Status run(const KernelArgs &args) const override {
    for (const Part &part : parts)
      part.copy.run(args.operands[part.operand], static_cast<std::byte *>(args.results[0]) + part.offsetBytes);
    return {};
  }
};

/// PyTorch lets a tensor of shape [0] stand beside tensors of any rank.
bool isSkipped(const TensorDesc &desc) { return desc.sizes.size() == 1 && desc.sizes[0] == 0; }

/// The operand that decides about rank and layout.
Result<const TensorDesc *> concatModel(const StepContext &context) {
  const TensorDesc *model = nullptr;
  for (size_t i = 0; i < context.operands.size(); ++i) {
    INGOT_TRY(const TensorDesc *desc, tensorAt(context, i));
    if (!model || (isSkipped(*model) && !isSkipped(*desc)))
      model = desc;
  }
  return model;
}

Result<std::vector<ResultDesc>> inferConcat(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, SIZE_MAX));
  INGOT_TRY(const TensorDesc *model, concatModel(context));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", model->sizes.size()));
  std::vector<int64_t> sizes = model->sizes;
  int64_t &total = sizes[static_cast<size_t>(axis)];
  total = 0;
  for (const BoundOperand &operand : context.operands) {
    const TensorDesc &desc = operand.desc;
    if (isSkipped(desc))
      continue;
    bool fits = desc.dtype == model->dtype && desc.sizes.size() == sizes.size();
    for (size_t i = 0; fits && i < sizes.size(); ++i)
      fits = i == static_cast<size_t>(axis) || desc.sizes[i] == sizes[i];
    if (!fits || __builtin_add_overflow(total, desc.sizes[static_cast<size_t>(axis)], &total))
      return badShapes(context, "the tensors do not fit together");
  }
  return denseResult(context, denseLike(model->dtype, sizes, *model));
}

Result<std::unique_ptr<BoundKernel>> bindConcat(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", results[0].sizes.size()));
  auto kernel = std::make_unique<ConcatKernel>();
  auto bytes = static_cast<int64_t>(byteSize(results[0].dtype));
  int64_t position = 0;
  for (size_t i = 0; i < context.operands.size(); ++i) {
    const TensorDesc &desc = context.operands[i].desc;
    if (desc.numel() == 0)
      continue;
    int64_t offset = position * results[0].strides[static_cast<size_t>(axis)] * bytes;
    kernel->parts.push_back({i, copyBetween(desc, results[0]), offset});
    position += desc.sizes[static_cast<size_t>(axis)];
  }
  return std::unique_ptr<BoundKernel>(std::move(kernel));
}

} // namespace

std::unique_ptr<BoundKernel> makeCopyKernel(StridedCopy copy, int64_t srcOffsetBytes) {
  auto kernel = std::make_unique<CopyKernel>();
  kernel->copy = std::move(copy);
  kernel->srcOffsetBytes = srcOffsetBytes;
  return kernel;
}

const KernelDef kernelDef_copy = {"copy", inferCopy, bindCopy, true};
const KernelDef kernelDef_flip = {"flip", inferFlip, bindFlip, true};
const KernelDef kernelDef_insert_slice = {"insert_slice", inferInsertSlice, bindInsertSlice, true, 1};
const KernelDef kernelDef_concat = {"concat", inferConcat, bindConcat, true};

} // namespace ingot
