#include "fallback/libtorch/Results.h"

#include "fallback/libtorch/DTypes.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <set>

using nlohmann::json;

namespace ingot::fallback {

Status ResultWriter::addTensor(const at::Tensor &tensor) {
  FallbackValue value;
  if (tensor.defined()) {
    if (tensor.layout() != c10::kStrided || !tensor.is_cpu())
      return unsupportedError("it gives a tensor that is not dense or not in the CPU's memory");
    if (!ourDType(tensor.scalar_type()))
      return unsupportedError(std::string("it gives a tensor of the element type ") +
                              c10::toString(tensor.scalar_type()));
    value.kind = FallbackKind::Tensor;
    value.dtype = static_cast<int32_t>(*ourDType(tensor.scalar_type()));
  }
  results.values.push_back(value);
  results.tensors.push_back(tensor);
  return {};
}

Status ResultWriter::addOne(const c10::IValue &value) {
  if (value.isTensor())
    return addTensor(value.toTensor());
  FallbackValue result;
  if (value.isBool()) {
    result.kind = FallbackKind::Bool;
    result.integer = value.toBool();
  } else if (value.isInt()) {
    result.kind = FallbackKind::Int;
    result.integer = value.toInt();
  } else if (value.isDouble()) {
    result.kind = FallbackKind::Float;
    result.number = value.toDouble();
  } else if (!value.isNone()) {
    return unsupportedError("it gives a " + value.tagKind() + ", which no program can hold");
  }
  results.values.push_back(result);
  results.tensors.emplace_back();
  return {};
}

Status ResultWriter::addLaidOut(const c10::IValue &value, const json &place) {
  if (place.is_null())
    return {};
  if (!place.is_array())
    return addOne(value);
  if (!value.isList() || value.toListRef().size() != place.size())
    return unsupportedError("it does not give a list of " + std::to_string(place.size()) + ", as was exported");
  for (size_t i = 0; i < place.size(); ++i)
    if (!place[i].is_null())
      INGOT_CHECK(addOne(value.toListRef()[i]));
  return {};
}

Status ResultWriter::addReturns(std::vector<c10::IValue> returns, const json &layout) {
  if (!layout.is_array()) {
    for (const c10::IValue &value : returns) {
      if (!value.isList()) {
        INGOT_CHECK(addOne(value));
        continue;
      }
      for (const c10::IValue &item : value.toListRef())
        INGOT_CHECK(addOne(item));
    }
    return {};
  }
  // An operator without returns is exported as one that gives None.
  if (returns.empty())
    returns.emplace_back();
  if (returns.size() != layout.size())
    return unsupportedError("it gives " + std::to_string(returns.size()) + " values, not the exported " +
                            std::to_string(layout.size()));
  for (size_t i = 0; i < returns.size(); ++i)
    INGOT_CHECK(addLaidOut(returns[i], layout[i]));
  return {};
}

Status ResultWriter::addWritten(const c10::IValue &argument) {
  if (!argument.isList())
    return addOne(argument);
  for (const c10::IValue &item : argument.toListRef())
    INGOT_CHECK(addOne(item));
  return {};
}

/// Row-major memory that nobody else sees.
static at::Tensor ownTensor(at::Tensor tensor, const std::set<const void *> &foreign) {
  at::Tensor own = tensor.resolve_conj().resolve_neg().contiguous();
  tensor.reset();
  // Another holder may be another result, or the operator, which keeps a tensor for itself.
  bool isShared = own.use_count() > 1 || own.storage().use_count() > 1 || foreign.contains(own.storage().data());
  return isShared ? own.clone(at::MemoryFormat::Contiguous) : own;
}

FallbackResults *ResultWriter::finish(std::span<const FallbackValue> operands) {
  std::set<const void *> foreign;
  for (const FallbackValue &operand : operands)
    if (operand.kind == FallbackKind::Tensor && operand.data)
      foreign.insert(operand.data);
  for (size_t i = 0; i < results.values.size(); ++i) {
    FallbackValue &value = results.values[i];
    if (value.kind != FallbackKind::Tensor)
      continue;
    at::Tensor &tensor = results.tensors[i];
    tensor = ownTensor(std::move(tensor), foreign);
    value.data = tensor.data_ptr();
    value.sizes = tensor.sizes().data();
    value.strides = tensor.strides().data();
    value.rank = static_cast<size_t>(tensor.dim());
  }
  return std::make_unique<FallbackResults>(std::move(results)).release();
}

} // namespace ingot::fallback
