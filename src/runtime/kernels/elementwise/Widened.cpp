#include "runtime/kernels/elementwise/Widened.h"

#include "runtime/kernels/elementwise/Float16.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

constexpr int64_t kGrain = 16384;
constexpr size_t kAlignment = 64;

INGOT_SIMD void fromHalves(const uint16_t *__restrict from, float *__restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = bits::fromHalf(from[i]);
}

INGOT_SIMD void fromBFloats(const uint16_t *__restrict from, float *__restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = bits::fromBFloat16(from[i]);
}

INGOT_SIMD void toHalves(const float *__restrict from, uint16_t *__restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = bits::toHalf(from[i]);
}

INGOT_SIMD void toBFloats(const float *__restrict from, uint16_t *__restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = bits::toBFloat16(from[i]);
}

/// Elements from the first to the last.
int64_t reachOf(const TensorDesc &desc) {
  int64_t last = 0;
  for (size_t i = 0; i < desc.sizes.size(); ++i)
    last += (desc.sizes[i] - 1) * desc.strides[i];
  return last + 1;
}

size_t bytesOf(int64_t floats) {
  return (static_cast<size_t>(floats) * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace

class Widened final : public BoundKernel {
public:
  Widened(WideOperands operands, std::unique_ptr<BoundKernel> kernel, int64_t resultCount)
      : wide(std::move(operands)), inner(std::move(kernel)), resultCount(resultCount),
        innerBytes((inner->scratchBytes() + kAlignment - 1) / kAlignment * kAlignment) {}

  size_t scratchBytes() const override {
    size_t bytes = innerBytes + bytesOf(resultCount);
    for (const WideOperands::Operand &operand : wide.operands)
      bytes += operand.constant ? 0 : bytesOf(operand.count);
    return bytes;
  }

  int reorders() const override { return inner->reorders(); }
  std::string_view method() const override { return inner->method(); }

  Status run(const KernelArgs &args) const override {
    std::array<void *, kMaxOperands> operands{};
    std::ranges::copy(args.operands, operands.begin());
    auto *next = static_cast<std::byte *>(args.scratch) + innerBytes;
    for (const WideOperands::Operand &operand : wide.operands) {
      if (operand.constant) {
        operands[operand.index] = operand.constant->data();
        continue;
      }
      auto *to = reinterpret_cast<float *>(next);
      widen(wide.dtype, args.operands[operand.index], to, operand.count);
      operands[operand.index] = to;
      next += bytesOf(operand.count);
    }
    void *result = next;
    INGOT_CHECK(inner->run({std::span(operands).first(args.operands.size()), {&result, 1}, args.scratch}));
    narrow(static_cast<const float *>(result), static_cast<uint16_t *>(args.results[0]));
    return {};
  }

private:
  static constexpr size_t kMaxOperands = 4;

  void narrow(const float *from, uint16_t *to) const {
    parallelFor(0, resultCount, kGrain, [&](int64_t begin, int64_t end) {
      (wide.dtype == DType::Float16 ? toHalves : toBFloats)(from + begin, to + begin, end - begin);
    });
  }

  WideOperands wide; ///< panels are found by the addresses of constants: these go after the kernel
  std::unique_ptr<BoundKernel> inner;
  int64_t resultCount;
  size_t innerBytes;
};

TensorDesc widened(TensorDesc desc) {
  desc.dtype = DType::Float32;
  return desc;
}

void widenHere(DType dtype, const void *from, float *to, int64_t count) {
  (dtype == DType::Float16 ? fromHalves : fromBFloats)(static_cast<const uint16_t *>(from), to, count);
}

void widen(DType dtype, const void *from, float *to, int64_t count) {
  const auto *halves = static_cast<const uint16_t *>(from);
  parallelFor(0, count, kGrain,
              [&](int64_t begin, int64_t end) { widenHere(dtype, halves + begin, to + begin, end - begin); });
}

TensorDesc WideOperands::add(size_t index, const TensorDesc &desc) {
  operands.push_back({index, reachOf(desc), nullptr});
  isLoose = isLoose || reachOf(desc) > 2 * desc.numel();
  return widened(desc);
}

std::optional<TensorDesc> WideOperands::add(size_t index, const std::optional<TensorDesc> &desc) {
  return desc ? std::optional(add(index, *desc)) : std::nullopt;
}

const float *WideOperands::addConstant(size_t index, const TensorDesc &desc, const void *data) {
  auto constant = std::make_shared<std::vector<float>>(static_cast<size_t>(desc.numel()));
  widen(dtype, data, constant->data(), desc.numel());
  operands.push_back({index, desc.numel(), constant});
  return constant->data();
}

std::unique_ptr<BoundKernel> WideOperands::makeKernel(std::unique_ptr<BoundKernel> inner, const TensorDesc &result) && {
  if (!inner || isLoose)
    return nullptr;
  return std::make_unique<Widened>(std::move(*this), std::move(inner), result.numel());
}

} // namespace ingot
