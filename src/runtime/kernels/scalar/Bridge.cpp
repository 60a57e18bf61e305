// Between symbolic numbers and tensors: dim, from_scalar, iota.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"

#include <cstring>

namespace ingot {

extern const KernelDef kernelDef_dim;
extern const KernelDef kernelDef_from_scalar;
extern const KernelDef kernelDef_iota;

namespace {

Result<std::vector<ResultDesc>> inferDim(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", x->sizes.size()));
  std::vector<ResultDesc> results(1);
  results[0].scalar = x->sizes[static_cast<size_t>(axis)];
  return results;
}

/// A tensor whose content is known once sizes are known.
struct FillKernel : BoundKernel {
  std::vector<std::byte> content;

  Status run(const KernelArgs &args) const override {
    std::memcpy(args.results[0], content.data(), content.size());
    return {};
  }
};

/// Wraps around where the number does not fit, as a cast of a tensor does.
template <typename T, typename From> T convert(From number) {
  if constexpr (isSmallFloat<T>)
    return T(static_cast<float>(number));
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && std::is_same_v<From, double>)
    return number >= -0x1p63 && number < 0x1p63 ? static_cast<T>(static_cast<int64_t>(number)) : T();
  else
    return static_cast<T>(number);
}

/// Writes value(i) for i below count, converted to dtype.
template <typename From, typename ValueAt>
Result<std::unique_ptr<BoundKernel>> makeFill(const StepContext &context, const TensorDesc &desc, ValueAt valueAt) {
  auto fill = [&]<typename T>() -> Result<std::unique_ptr<BoundKernel>> {
    auto kernel = std::make_unique<FillKernel>();
    auto count = static_cast<size_t>(desc.numel());
    kernel->content.resize(count * sizeof(T));
    for (size_t i = 0; i < count; ++i) {
      T element = convert<T>(static_cast<From>(valueAt(static_cast<int64_t>(i))));
      std::memcpy(kernel->content.data() + i * sizeof(T), &element, sizeof(T));
    }
    return std::unique_ptr<BoundKernel>(std::move(kernel));
  };
  return dispatchType<EveryType>(context.step.kernel, desc.dtype, fill);
}

Result<std::vector<ResultDesc>> inferFromScalar(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  if (!context.operands[0].scalar)
    return badStep(context, "the operand is no number");
  return denseResult(context, TensorDesc::contiguous(context.resultTypes[0].dtype, {}));
}

Result<std::unique_ptr<BoundKernel>> bindFromScalar(const StepContext &context, std::span<const TensorDesc> results) {
  return std::visit(
      [&](auto number) { return makeFill<decltype(number)>(context, results[0], [&](int64_t) { return number; }); },
      *context.operands[0].scalar);
}

Result<std::vector<ResultDesc>> inferIota(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 3, 3));
  for (const BoundOperand &operand : context.operands)
    if (!operand.scalar)
      return badStep(context, "an operand is no number");
  const int64_t *count = std::get_if<int64_t>(&*context.operands[2].scalar);
  if (!count || context.operands[0].scalar->index() != context.operands[1].scalar->index())
    return badStep(context, "the operands have the wrong types");
  if (*count < 0 || *count > kMaxExtent)
    return badShapes(context, "the number of elements is impossible: " + std::to_string(*count));
  return denseResult(context, TensorDesc::contiguous(context.resultTypes[0].dtype, {*count}));
}

Result<std::unique_ptr<BoundKernel>> bindIota(const StepContext &context, std::span<const TensorDesc> results) {
  const ScalarValue &first = *context.operands[0].scalar;
  const ScalarValue &second = *context.operands[1].scalar;
  if (const double *start = std::get_if<double>(&first)) {
    double step = std::get<double>(second);
    return makeFill<double>(context, results[0], [&](int64_t i) { return *start + static_cast<double>(i) * step; });
  }
  auto integer = [](const ScalarValue &value) {
    const int64_t *number = std::get_if<int64_t>(&value);
    return static_cast<uint64_t>(number ? *number : std::get<bool>(value));
  };
  uint64_t start = integer(first);
  uint64_t step = integer(second);
  return makeFill<int64_t>(context, results[0], [&](int64_t i) { return start + static_cast<uint64_t>(i) * step; });
}

} // namespace

const KernelDef kernelDef_dim = {"dim", inferDim, nullptr, true};
const KernelDef kernelDef_from_scalar = {"from_scalar", inferFromScalar, bindFromScalar, true};
const KernelDef kernelDef_iota = {"iota", inferIota, bindIota, true};

} // namespace ingot
