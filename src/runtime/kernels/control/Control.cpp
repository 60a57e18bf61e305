// item reads a number, check makes a call fail; invoke is run by Driver.cpp and only has its name here.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"

namespace ingot {
namespace {

template <typename T> ScalarValue numberAs(DType wanted, T element) {
  if (wanted == DType::Float64)
    return scalar::cast<double>(element);
  if (wanted == DType::Bool)
    return scalar::cast<bool>(element);
  return scalar::cast<int64_t>(element);
}

Result<std::vector<EvaluatedResult>> evaluateItem(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  if (x->numel() != 1)
    return usageError("a tensor with " + std::to_string(x->numel()) +
                      " elements is no single number; item() needs one element");
  const void *data = context.operands[0].data;
  const DType wanted = context.resultTypes[0].dtype;
  INGOT_TRY(ScalarValue number,
            (dispatchType < RealTypes | Float8Types > ("item", x->dtype, [&]<typename T>() {
                                          return Result<ScalarValue>(numberAs(wanted, *static_cast<const T *>(data)));
                                        })));
  return std::vector<EvaluatedResult>{{TensorDesc::contiguous(wanted, {}), nullptr, number}};
}

/// Any element that is not zero counts as true, as for a Python condition.
Result<bool> holds(const BoundOperand &condition) {
  if (condition.scalar)
    return std::visit([](auto number) { return number != 0; }, *condition.scalar);
  if (condition.desc.numel() != 1)
    return usageError("an assertion needs a single boolean");
  return dispatchType<RealTypes>("check", condition.desc.dtype, [&]<typename T>() {
    return Result<bool>(scalar::cast<bool>(*static_cast<const T *>(condition.data)));
  });
}

Result<std::vector<EvaluatedResult>> evaluateCheck(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(std::string message, requiredAttr<std::string>(context, "message"));
  INGOT_TRY(bool isFine, holds(context.operands[0]));
  if (!isFine)
    return usageError(message);
  return std::vector<EvaluatedResult>{{TensorDesc::contiguous(DType::Bool, {}), nullptr, ScalarValue(true)}};
}

} // namespace

extern const KernelDef kernelDef_check = {"check", nullptr, nullptr, false, 0, evaluateCheck};
extern const KernelDef kernelDef_item = {"item", nullptr, nullptr, false, 0, evaluateItem};
extern const KernelDef kernelDef_invoke = {"invoke", nullptr, nullptr, true};

} // namespace ingot
