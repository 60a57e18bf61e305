// hash: the exclusive or of the bits of 64-bit elements along dimensions.
#include "runtime/kernels/elementwise/Checks.h"

#include <algorithm>

namespace ingot {
namespace {

class Hash final : public BoundKernel {
public:
  Hash(std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t results)
      : sizes(std::move(sizes)), strides(std::move(strides)), results(results) {}

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const uint64_t *>(args.operands[0]);
    auto *result = static_cast<uint64_t *>(args.results[0]);
    std::fill_n(result, results, 0);
    if (std::ranges::find(sizes, 0) == sizes.end())
      combine(x, result, 0);
    return {};
  }

private:
  /// The operand is contiguous, so that its elements come one after the other.
  const uint64_t *combine(const uint64_t *x, uint64_t *result, size_t dim) const {
    if (dim == sizes.size()) {
      *result ^= *x;
      return x + 1;
    }
    for (int64_t i = 0; i < sizes[dim]; ++i)
      x = combine(x, result + i * strides[dim], dim + 1);
    return x;
  }

  std::vector<int64_t> sizes, strides; ///< of the operand; of the result, 0 where reduced
  int64_t results;
};

struct HashShape {
  TensorDesc result;
  std::vector<int64_t> strides;
};

Result<HashShape> makeShape(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(auto dims, requiredAttr<std::vector<int64_t>>(context, "dims"));
  if (byteSize(x->dtype) != 8 || context.resultTypes[0].dtype != DType::UInt64)
    return badType(context, x->dtype);
  std::vector<int64_t> sizes = x->sizes;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(sizes.size()))
      return badStep(context, "a dimension is out of range: " + std::to_string(dim));
    sizes[static_cast<size_t>(dim)] = 1;
  }
  HashShape shape{TensorDesc::contiguous(DType::UInt64, std::move(sizes)), {}};
  shape.strides = shape.result.strides;
  for (int64_t dim : dims)
    shape.strides[static_cast<size_t>(dim)] = 0;
  return shape;
}

Result<std::vector<ResultDesc>> inferHash(const StepContext &context) {
  INGOT_TRY(HashShape shape, makeShape(context));
  return denseResult(context, shape.result);
}

Result<std::unique_ptr<BoundKernel>> bindHash(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(HashShape shape, makeShape(context));
  return makeKernel<Hash>(context.operands[0].desc.sizes, std::move(shape.strides), shape.result.numel());
}

} // namespace

extern const KernelDef kernelDef_hash = {"hash", inferHash, bindHash, false};

} // namespace ingot
