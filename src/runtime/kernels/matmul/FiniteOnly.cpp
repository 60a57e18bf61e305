#include "runtime/kernels/matmul/FiniteOnly.h"

#include "runtime/States.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/gemm/Activate.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"
#include "threads/Invalid.h"

#include <algorithm>
#include <atomic>

namespace ingot {
namespace {

constexpr int64_t kGrain = 32768;

bool isFinite(const float *values, int64_t count) {
  std::atomic<bool> result = true;
  parallelFor(0, count, kGrain, [&](int64_t begin, int64_t end) {
    if (!rows::isFinite(values + begin, end - begin))
      result = false;
  });
  return result;
}

} // namespace

bool losesNan(Activation activation) {
  return activation == Activation::Relu || activation == Activation::Relu6 || activation == Activation::HardSigmoid;
}

FiniteOnlyKernel::FiniteOnlyKernel(std::unique_ptr<BoundKernel> fast, const std::vector<FiniteOperand> &finite,
                                   OtherKernel other)
    : fast(std::move(fast)), other(std::move(other)) {
  for (const FiniteOperand &operand : finite) {
    const Extent extent = checkedExtent(operand.desc).value_or(Extent{});
    ranges.push_back({operand.index, extent.begin, extent.end - extent.begin});
  }
}

Status FiniteOnlyKernel::run(const KernelArgs &args) const {
  // Operands are looked at after the CPU has said that something was lost, which is hardly ever.
  threads::clearInvalid();
  INGOT_CHECK(fast->run(args));
  return threads::isInvalid() && !areFinite(args) ? runOther(args) : Status();
}

bool FiniteOnlyKernel::areFinite(const KernelArgs &args) const {
  return std::ranges::all_of(ranges, [&](const Range &range) {
    return isFinite(static_cast<const float *>(args.operands[range.index]) + range.begin, range.count);
  });
}

Status FiniteOnlyKernel::runOther(const KernelArgs &args) const {
  INGOT_TRY(std::unique_ptr<BoundKernel> kernel, other.make());
  INGOT_TRY(std::shared_ptr<std::byte> scratch, allocateBlock(std::max<size_t>(1, kernel->scratchBytes())));
  INGOT_CHECK(kernel->run({args.operands, args.results, scratch.get()}));
  auto *result = static_cast<float *>(args.results[0]);
  parallelFor(0, other.count, kGrain,
              [&](int64_t begin, int64_t end) { gemm::activateAll(other.activation, result + begin, end - begin); });
  return {};
}

} // namespace ingot
