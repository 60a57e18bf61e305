// bitcast: the same bytes as elements of another type.
#include "runtime/kernels/elementwise/Checks.h"

#include <cstring>

namespace ingot {
namespace {

class Bitcast final : public BoundKernel {
public:
  explicit Bitcast(size_t bytes) : bytes(bytes) {}

  Status run(const KernelArgs &args) const override {
    std::memcpy(args.results[0], args.operands[0], bytes);
    return {};
  }

private:
  size_t bytes;
};

Result<std::vector<ResultDesc>> inferBitcast(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  const DType dtype = context.resultTypes[0].dtype;
  const auto have = static_cast<int64_t>(byteSize(x->dtype)), want = static_cast<int64_t>(byteSize(dtype));
  std::vector<int64_t> sizes = x->sizes;
  if (have != want) {
    if (sizes.empty() || sizes.back() > kMaxExtent || sizes.back() * have % want != 0)
      return badShapes(context, "the last dimension cannot be divided into elements of the result");
    sizes.back() = sizes.back() * have / want;
  }
  return denseResult(context, TensorDesc::contiguous(dtype, std::move(sizes)));
}

Result<std::unique_ptr<BoundKernel>> bindBitcast(const StepContext &context, std::span<const TensorDesc>) {
  const TensorDesc &x = context.operands[0].desc;
  return makeKernel<Bitcast>(static_cast<size_t>(x.numel()) * byteSize(x.dtype));
}

} // namespace

extern const KernelDef kernelDef_bitcast = {"bitcast", inferBitcast, bindBitcast, false};

} // namespace ingot
