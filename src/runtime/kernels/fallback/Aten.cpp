// aten: an exported node that has no native form, run by PyTorch through the plugin.
#include "runtime/Kernel.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/fallback/Plugin.h"

namespace ingot {
namespace {

FallbackValue operandValue(const BoundOperand &operand) {
  FallbackValue value;
  if (!operand.present)
    return value;
  if (operand.scalar) {
    if (const int64_t *integer = std::get_if<int64_t>(&*operand.scalar)) {
      value.kind = FallbackKind::Int;
      value.integer = *integer;
    } else if (const double *number = std::get_if<double>(&*operand.scalar)) {
      value.kind = FallbackKind::Float;
      value.number = *number;
    } else {
      value.kind = FallbackKind::Bool;
      value.integer = std::get<bool>(*operand.scalar);
    }
    return value;
  }
  value.kind = FallbackKind::Tensor;
  value.dtype = static_cast<int32_t>(operand.desc.dtype);
  value.data = const_cast<void *>(operand.data); // the plugin promises not to write
  value.sizes = operand.desc.sizes.data();
  value.strides = operand.desc.strides.data();
  value.rank = operand.desc.sizes.size();
  return value;
}

/// A number in the type that the plan expects.
Result<ScalarValue> scalarOf(const FallbackValue &value, DType dtype) {
  if (value.kind == FallbackKind::None || value.kind == FallbackKind::Tensor)
    return unsupportedError("it gave no number where one was exported");
  bool isFloat = value.kind == FallbackKind::Float;
  if (dtype == DType::Float64)
    return ScalarValue(isFloat ? value.number : static_cast<double>(value.integer));
  if (isFloat)
    return unsupportedError("it gave a float where an integer was exported");
  return dtype == DType::Bool ? ScalarValue(value.integer != 0) : ScalarValue(value.integer);
}

std::string shapeText(std::span<const int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + (size == kDynamic ? std::string("?") : std::to_string(size));
  return "[" + text + "]";
}

bool fits(const TensorDesc &desc, const Value &expected) {
  if (desc.dtype != expected.dtype || desc.sizes.size() != expected.shape.size())
    return false;
  for (size_t i = 0; i < desc.sizes.size(); ++i)
    if (expected.shape[i] != kDynamic && expected.shape[i] != desc.sizes[i])
      return false;
  return true;
}

/// The result's memory lies in the plugin's results, which `keeper` holds.
Result<EvaluatedResult> resultOf(const FallbackValue &value, const Value &expected,
                                 const std::shared_ptr<FallbackResults> &keeper) {
  EvaluatedResult result;
  if (expected.kind == ValueKind::Scalar) {
    INGOT_TRY(result.scalar, scalarOf(value, expected.dtype));
    return result;
  }
  if (value.kind != FallbackKind::Tensor)
    return unsupportedError("it gave no tensor where one was exported");
  result.desc = TensorDesc::contiguous(static_cast<DType>(value.dtype), {value.sizes, value.sizes + value.rank});
  if (!fits(result.desc, expected))
    return unsupportedError("it gave " + std::string(dtypeName(result.desc.dtype)) + shapeText(result.desc.sizes) +
                            " where " + std::string(dtypeName(expected.dtype)) + shapeText(expected.shape) +
                            " was exported");
  result.data = std::shared_ptr<std::byte>(keeper, static_cast<std::byte *>(value.data));
  return result;
}

Result<std::vector<EvaluatedResult>> runNode(const StepContext &ctx, const std::string &target) {
  INGOT_TRY(const FallbackApi *api, fallbackApi());
  std::vector<FallbackValue> operands;
  for (const BoundOperand &operand : ctx.operands)
    operands.push_back(operandValue(operand));
  std::string arguments = ctx.attr<std::string>("args", "{}"), returns = ctx.attr<std::string>("returns", ""),
              writes = ctx.attr<std::string>("writes", "");
  FallbackCall call{target.c_str(),  arguments.c_str(), returns.c_str(), writes.c_str(), ctx.attr<int64_t>("into", -1),
                    operands.data(), operands.size()};
  FallbackResults *raw = nullptr;
  FallbackError error;
  if (!api->run(&call, &raw, &error))
    return fallbackFailure(*api, error);
  std::shared_ptr<FallbackResults> results(raw, api->freeResults);
  if (api->resultCount(raw) != ctx.resultTypes.size())
    return unsupportedError("it gave " + std::to_string(api->resultCount(raw)) + " values where " +
                            std::to_string(ctx.resultTypes.size()) + " were exported");
  std::vector<EvaluatedResult> values;
  for (size_t i = 0; i < ctx.resultTypes.size(); ++i) {
    INGOT_TRY(EvaluatedResult value, resultOf(*api->result(raw, i), ctx.resultTypes[i], results));
    values.push_back(std::move(value));
  }
  return values;
}

Result<std::vector<EvaluatedResult>> evaluateAten(const StepContext &ctx) {
  std::string target = ctx.attr<std::string>("target", "");
  Result<std::vector<EvaluatedResult>> results = runNode(ctx, target);
  if (!results)
    return std::move(results.error()).note("while PyTorch ran " + target);
  return results;
}

} // namespace

extern const KernelDef kernelDef_aten;
// Values have no strides: operands are passed row-major, so that no result depends on how they happen to lie.
const KernelDef kernelDef_aten = {
    .name = kFallbackKernel, .infer = nullptr, .bind = nullptr, .acceptsStrides = false, .evaluate = evaluateAten};

} // namespace ingot
