// What kernels check about their step before they believe it: a plan may come from anywhere.
#pragma once

#include "runtime/Kernel.h"

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// "matmul: " and what is wrong with the plan.
Error badStep(const StepContext &context, std::string_view what);
/// The same for sizes, which may be the caller's doing.
Error badShapes(const StepContext &context, std::string_view what);
/// "softmax: int32 is not supported".
Error badType(const StepContext &context, DType dtype);

/// The number of operands is in [low, high] and there is a result type for each result.
Status checkCounts(const StepContext &context, size_t low, size_t high, size_t results = 1);

/// An operand that must be a tensor.
Result<const TensorDesc *> tensorAt(const StepContext &context, size_t index);
/// nullptr when it is absent.
Result<const TensorDesc *> optionalTensorAt(const StepContext &context, size_t index);

template <typename T> Result<T> requiredAttr(const StepContext &context, std::string_view name) {
  auto it = context.step.attributes.find(name);
  if (it != context.step.attributes.end())
    if (const T *value = std::get_if<T>(&it->second))
      return *value;
  return badStep(context, "attribute '" + std::string(name) + "' is missing or of the wrong kind");
}

/// A list with `count` entries, each in [low, high].
Result<std::vector<int64_t>> listAttr(const StepContext &context, std::string_view name, size_t count, int64_t low,
                                      int64_t high);
/// A dimension of a tensor with `rank` dimensions; negative ones count from the end.
Result<int64_t> axisAttr(const StepContext &context, std::string_view name, size_t rank);
/// The position of an enum's keyword in `keywords`.
Result<size_t> keywordAttr(const StepContext &context, std::string_view name,
                           std::span<const std::string_view> keywords);

/// Sizes of operands that broadcast together.
Result<std::vector<int64_t>> broadcastSizes(const StepContext &context, std::span<const int64_t> a,
                                            std::span<const int64_t> b);
bool broadcastsTo(std::span<const int64_t> from, std::span<const int64_t> to);

/// A dense result, refused when its size overflows.
Result<std::vector<ResultDesc>> denseResult(const StepContext &context, TensorDesc desc);

/// `sizes` in the memory order of `like`, if that has the same rank and no gaps; else row-major.
TensorDesc denseLike(DType dtype, std::vector<int64_t> sizes, const TensorDesc &like);

/// Whether channels (dimension 1) are innermost in memory and the rest is dense, for rank 3 to 5.
bool isChannelsLast(const TensorDesc &desc);
TensorDesc channelsLast(DType dtype, std::vector<int64_t> sizes);

/// A bound kernel of type K, as bind functions return it.
template <typename K, typename... Args> Result<std::unique_ptr<BoundKernel>> makeKernel(Args &&...args) {
  return std::unique_ptr<BoundKernel>(std::make_unique<K>(std::forward<Args>(args)...));
}

/// Largest size of a dimension, stride, kernel … that kernels compute with: products of two fit 64 bits.
inline constexpr int64_t kMaxExtent = (int64_t(1) << 31) - 1;
/// Largest size that a step may ask for by an attribute alone, where a kernel makes a table of that size.
inline constexpr int64_t kMaxTable = int64_t(1) << 26;

} // namespace ingot
