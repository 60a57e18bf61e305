// A call's arguments as PyTorch's boxed values. Private to this folder.
#pragma once

#include "base/Json.h"
#include "fallback/FallbackApi.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace ingot::fallback {

/// Reads the JSON arguments of one call by the types of the schema. Operands that the operator writes to are copied.
class ArgumentReader {
public:
  explicit ArgumentReader(std::span<const FallbackValue> operands) : operands(operands) {}

  /// The boxed stack: every argument of the schema in order, defaults filled in. `writes` names arguments that are
  /// written besides those of which the schema says so.
  Result<std::vector<c10::IValue>> read(const c10::FunctionSchema &schema, const nlohmann::json &arguments,
                                        std::span<const std::string> writes);
  Result<at::Tensor> lastOperand();
  /// The tensor lies in the memory of an operand that was not copied, and so must not be written.
  bool isOperandMemory(const at::Tensor &tensor) const;

private:
  Result<c10::IValue> value(const nlohmann::json &json, const c10::TypePtr &type);
  Result<c10::IValue> argument(const c10::Argument &declared, const nlohmann::json &json);
  Result<c10::IValue> list(const nlohmann::json &json, const c10::TypePtr &element);
  Result<c10::IValue> operand(const nlohmann::json &number, const c10::TypePtr &type);
  Result<at::Tensor> operandTensor(size_t number);

  std::span<const FallbackValue> operands;
  std::map<size_t, at::Tensor> tensors;
  bool isWritten = false; ///< the argument being read is written by the operator
};

} // namespace ingot::fallback
