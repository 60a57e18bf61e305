#include "runtime/kernels/elementwise/Ref.h"

#include "runtime/TensorDesc.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

/// Elements that are worth a thread of their own.
constexpr int64_t kGrain = 16384;

class RowKernel final : public BoundKernel {
public:
  RowKernel(StridedLoop loop, RowFunction row, size_t operands) : loop(std::move(loop)), row(row), operands(operands) {}

  Status run(const KernelArgs &args) const override {
    StridedLoop::Pointers base{};
    base[0] = static_cast<char *>(args.results[0]);
    for (size_t i = 0; i < operands; ++i)
      base[i + 1] = static_cast<char *>(args.operands[i]);
    if (loop.rows() == 1) {
      loop.run(base, 0, 1, [&](int64_t count, StridedLoop::Pointers p, const StridedLoop::Strides &strides) {
        parallelFor(0, count, kGrain, [&](int64_t begin, int64_t end) { runPart(begin, end, p, strides); });
      });
      return {};
    }
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, loop.rowLength()));
    parallelFor(0, loop.rows(), grain, [&](int64_t begin, int64_t end) { loop.run(base, begin, end, row); });
    return {};
  }

private:
  void runPart(int64_t begin, int64_t end, StridedLoop::Pointers p, const StridedLoop::Strides &strides) const {
    for (size_t t = 0; t < StridedLoop::kMaxTensors; ++t)
      p[t] += begin * strides[t];
    row(end - begin, p, strides);
  }

  StridedLoop loop;
  RowFunction row;
  size_t operands;
};

} // namespace

std::unique_ptr<BoundKernel> makeRowKernel(const StepContext &context, const TensorDesc &result, RowFunction row) {
  std::vector<const TensorDesc *> tensors{&result};
  for (const BoundOperand &operand : context.operands)
    tensors.push_back(&operand.desc);
  return std::make_unique<RowKernel>(StridedLoop::make(tensors), row, context.operands.size());
}

Result<TensorDesc> inferElementwise(const StepContext &context, size_t count, size_t firstTyped) {
  INGOT_CHECK(checkCounts(context, count, count));
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < count; ++i) {
    INGOT_TRY(const TensorDesc *desc, tensorAt(context, i));
    if (i > firstTyped && desc->dtype != context.operands[firstTyped].desc.dtype)
      return badStep(context, "the operands have different element types");
    INGOT_TRY(sizes, broadcastSizes(context, sizes, desc->sizes));
  }
  const DType dtype = context.operands[firstTyped].desc.dtype;
  for (const BoundOperand &operand : context.operands)
    if (operand.desc.sizes == sizes && denseOrder(operand.desc))
      return denseLike(dtype, std::move(sizes), operand.desc);
  return TensorDesc::contiguous(dtype, std::move(sizes));
}

Result<std::vector<ResultDesc>> elementwiseResult(const StepContext &context, TensorDesc desc, DType expected) {
  if (context.resultTypes[0].dtype != expected)
    return badStep(context, "the result's element type is not " + std::string(dtypeName(expected)));
  desc.dtype = expected;
  return denseResult(context, std::move(desc));
}

} // namespace ingot
