// Calls the function that codegen compiled from the source of a user's kernel.
#include "base/Bytes.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/custom/KernelAbi.h"
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/view/StridedCopy.h"
#include "runtime/kernels/view/View.h"

#include <array>

namespace ingot {

extern const KernelDef kernelDef_custom;

namespace {

/// How many of the operands are the kernel's own; the others are sizes.
Result<size_t> inputCount(const StepContext &context) {
  INGOT_TRY(int64_t count, requiredAttr<int64_t>(context, "inputs"));
  if (count < 0 || static_cast<size_t>(count) > context.operands.size())
    return badStep(context, "attribute 'inputs' is out of range");
  return static_cast<size_t>(count);
}

Result<std::vector<ResultDesc>> inferCustom(const StepContext &context) {
  INGOT_TRY(size_t inputs, inputCount(context));
  INGOT_TRY(std::vector<int64_t> sizes, dynamicListAttr(context, "sizes", inputs));
  std::vector<ResultDesc> results;
  auto next = sizes.begin();
  for (const Value &type : context.resultTypes) {
    auto rank = static_cast<ptrdiff_t>(type.shape.size());
    if (type.kind != ValueKind::Tensor || sizes.end() - next < rank)
      return badStep(context, "attribute 'sizes' does not fit the results");
    ResultDesc result;
    std::vector<int64_t> own(next, next + rank);
    if (!checkedElementCount(own))
      return badShapes(context, "a result has a negative size, or too many elements");
    result.desc = TensorDesc::contiguous(type.dtype, std::move(own));
    result.mayOverwrite = false;
    INGOT_CHECK(checkedBytes(result.desc));
    results.push_back(std::move(result));
    next += rank;
  }
  if (next != sizes.end() || results.empty())
    return badStep(context, "attribute 'sizes' does not fit the results");
  return results;
}

struct CustomKernel : BoundKernel {
  /// An input that is not row-major, and where its copy lies.
  struct Copy {
    size_t input;
    StridedCopy copy;
    size_t scratchOffset;
  };

  std::string name;
  ingot_kernel_function function = nullptr;
  std::vector<TensorDesc> descs;                   ///< of inputs, then results
  std::vector<std::optional<ScalarValue>> numbers; ///< one an input; none for tensors
  size_t inputs = 0;
  std::vector<Copy> copies;
  size_t scratch = 0;

  size_t scratchBytes() const override { return scratch; }

  Status run(const KernelArgs &args) const override {
    std::vector<ingot_kernel_argument> arguments(descs.size());
    for (size_t i = 0; i < descs.size(); ++i) {
      void *data = i < inputs ? args.operands[i] : args.results[i - inputs];
      arguments[i] = {data, descs[i].sizes.data(), descs[i].strides.data(),
                      static_cast<int64_t>(descs[i].sizes.size())};
    }
    for (const Copy &each : copies) {
      void *target = static_cast<std::byte *>(args.scratch) + each.scratchOffset;
      each.copy.run(arguments[each.input].data, target);
      arguments[each.input].data = target;
    }
    std::vector<std::optional<ScalarValue>> own =
        numbers; // the kernel sees its numbers by address, and may not change ours
    for (size_t i = 0; i < inputs; ++i)
      if (own[i])
        arguments[i].data = std::visit([](auto &number) -> void * { return &number; }, *own[i]);
    std::array<char, 512> message{};
    if (function(arguments.data(), arguments.data() + inputs, message.data(), message.size()) == 0)
      return {};
    message.back() = 0;
    return usageError("the kernel '" + name + "' failed: " + message.data());
  }
};

/// Lets the function see input number `index` in row-major order, by a copy.
Status addCopy(CustomKernel &kernel, size_t index) {
  TensorDesc &desc = kernel.descs[index];
  TensorDesc target = TensorDesc::contiguous(desc.dtype, desc.sizes);
  INGOT_TRY(size_t bytes, checkedBytes(target));
  std::optional<size_t> end = checkedAdd(kernel.scratch, bytes + 63);
  if (!end)
    return unsupportedError("custom: an operand does not fit into memory");
  StridedCopy copy(desc.sizes, desc.strides, target.strides, byteSize(desc.dtype));
  kernel.copies.push_back({index, std::move(copy), kernel.scratch});
  kernel.scratch = *end / 64 * 64;
  desc = std::move(target);
  return {};
}

Result<std::unique_ptr<BoundKernel>> bindCustom(const StepContext &context, std::span<const TensorDesc> results) {
  auto kernel = std::make_unique<CustomKernel>();
  INGOT_TRY(kernel->name, requiredAttr<std::string>(context, "kernel"));
  INGOT_TRY(std::string symbol, requiredAttr<std::string>(context, "symbol"));
  void *address = context.findSymbol ? context.findSymbol(symbol) : nullptr;
  if (!address)
    return badStep(context, "the kernel library has no function `" + symbol + "`");
  kernel->function = reinterpret_cast<ingot_kernel_function>(address);
  INGOT_TRY(kernel->inputs, inputCount(context));
  bool isStrided = context.attr<bool>("strided", false);
  for (size_t i = 0; i < kernel->inputs; ++i) {
    const BoundOperand &operand = context.operands[i];
    if (!operand.present)
      return badStep(context, "an operand is missing");
    kernel->numbers.push_back(operand.scalar);
    kernel->descs.push_back(operand.scalar ? TensorDesc() : operand.desc);
    if (!operand.scalar && !isStrided && !operand.desc.isContiguous())
      INGOT_CHECK(addCopy(*kernel, i));
  }
  kernel->descs.insert(kernel->descs.end(), results.begin(), results.end());
  return std::unique_ptr<BoundKernel>(std::move(kernel));
}

} // namespace

const KernelDef kernelDef_custom = {"custom", inferCustom, bindCustom, true};

} // namespace ingot
