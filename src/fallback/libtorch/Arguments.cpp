#include "fallback/libtorch/Arguments.h"

#include "fallback/libtorch/DTypes.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <cstdlib>

using nlohmann::json;

namespace ingot::fallback {
namespace {

constexpr size_t kMaxRank = 64;

Error mismatch(const json &value, const c10::TypePtr &type) {
  return unsupportedError("the argument " + value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 80) +
                          " cannot be passed as " + type->repr_str());
}

/// A number where the operator takes a tensor: it takes part in type promotion as a number does.
at::Tensor wrappedNumber(const at::Scalar &number) {
  at::Tensor tensor = at::scalar_tensor(number, at::TensorOptions().dtype(number.type()));
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

Result<c10::IValue> scalarAs(const at::Scalar &number, const c10::TypePtr &type, const json &source) {
  switch (type->kind()) {
  case c10::TypeKind::TensorType:
    return c10::IValue(wrappedNumber(number));
  case c10::TypeKind::NumberType:
    return c10::IValue(number);
  case c10::TypeKind::FloatType:
  case c10::TypeKind::SymFloatType:
    if (!number.isComplex())
      return c10::IValue(number.toDouble());
    break;
  case c10::TypeKind::IntType:
  case c10::TypeKind::SymIntType:
    if (number.isIntegral(/*includeBool=*/true))
      return c10::IValue(number.isBoolean() ? static_cast<int64_t>(number.toBool()) : number.toLong());
    break;
  case c10::TypeKind::BoolType:
  case c10::TypeKind::SymBoolType:
    if (number.isIntegral(/*includeBool=*/true))
      return c10::IValue(number.isBoolean() ? number.toBool() : number.toLong() != 0);
    break;
  case c10::TypeKind::ComplexType:
    return c10::IValue(number.toComplexDouble());
  default:
    break;
  }
  return mismatch(source, type);
}

/// Some normalisations update these in training without saying so in their schema.
bool isRunningStatistic(const std::string &name) { return name == "running_mean" || name == "running_var"; }

/// "1.5,-2": the two parts of a complex number.
at::Scalar parseComplex(const std::string &text) {
  size_t comma = text.find(',');
  double real = std::strtod(text.c_str(), nullptr);
  double imaginary = comma == std::string::npos ? 0 : std::strtod(text.c_str() + comma + 1, nullptr);
  return c10::complex<double>(real, imaginary);
}

std::optional<at::Scalar> literalNumber(const json &value) {
  if (value.is_boolean())
    return at::Scalar(value.get<bool>());
  if (value.is_number_unsigned())
    return at::Scalar(value.get<uint64_t>() > INT64_MAX ? at::Scalar(value.get<uint64_t>())
                                                        : at::Scalar(value.get<int64_t>()));
  if (value.is_number_integer())
    return at::Scalar(value.get<int64_t>());
  if (value.is_number_float())
    return at::Scalar(value.get<double>());
  return std::nullopt;
}

std::optional<c10::Layout> layoutOf(const std::string &name) {
  if (name == "strided")
    return c10::kStrided;
  if (name == "sparse_coo")
    return c10::kSparse;
  if (name == "sparse_csr")
    return c10::kSparseCsr;
  if (name == "sparse_csc")
    return c10::kSparseCsc;
  if (name == "sparse_bsr")
    return c10::kSparseBsr;
  if (name == "sparse_bsc")
    return c10::kSparseBsc;
  return std::nullopt;
}

std::optional<c10::MemoryFormat> memoryFormatOf(const std::string &name) {
  if (name == "contiguous_format")
    return c10::MemoryFormat::Contiguous;
  if (name == "preserve_format")
    return c10::MemoryFormat::Preserve;
  if (name == "channels_last")
    return c10::MemoryFormat::ChannelsLast;
  if (name == "channels_last_3d")
    return c10::MemoryFormat::ChannelsLast3d;
  return std::nullopt;
}

/// {"dtype": "float32"} and its like: one member that says what kind of argument it is.
Result<c10::IValue> tagged(const std::string &kind, const json &value, const c10::TypePtr &type) {
  if (!value.is_string())
    return mismatch(value, type);
  std::string text = value.get<std::string>();
  if (kind == "float")
    return scalarAs(at::Scalar(std::strtod(text.c_str(), nullptr)), type, value);
  if (kind == "complex")
    return scalarAs(parseComplex(text), type, value);
  // Every tensor of a program lies in the CPU's memory, wherever it was exported.
  if (kind == "device")
    return c10::IValue(c10::Device(c10::kCPU));
  if (kind == "dtype") {
    std::optional<DType> dtype = dtypeFromName(text);
    if (std::optional<c10::ScalarType> known = dtype ? torchDType(*dtype) : std::nullopt)
      return c10::IValue(static_cast<int64_t>(*known));
  }
  if (kind == "layout")
    if (std::optional<c10::Layout> layout = layoutOf(text))
      return c10::IValue(static_cast<int64_t>(*layout));
  if (kind == "memory_format")
    if (std::optional<c10::MemoryFormat> format = memoryFormatOf(text))
      return c10::IValue(static_cast<int64_t>(*format));
  return mismatch(json{{kind, value}}, type);
}

} // namespace

Result<at::Tensor> ArgumentReader::operandTensor(size_t number) {
  if (auto known = tensors.find(number); known != tensors.end())
    return known->second;
  const FallbackValue &given = operands[number];
  std::optional<c10::ScalarType> dtype =
      given.dtype >= 0 && given.dtype <= UINT8_MAX ? torchDType(static_cast<DType>(given.dtype)) : std::nullopt;
  if (!dtype || given.rank > kMaxRank)
    return internalError("operand " + std::to_string(number) + " is no valid tensor");
  c10::IntArrayRef sizes(given.sizes, given.rank), strides(given.strides, given.rank);
  bool isEmpty = std::ranges::find(sizes, 0) != sizes.end();
  if (!isEmpty && !given.data)
    return internalError("operand " + std::to_string(number) + " has no data");
  auto options = at::TensorOptions().dtype(*dtype).device(c10::kCPU);
  at::Tensor tensor =
      isEmpty ? at::empty_strided(sizes, strides, options) : at::from_blob(given.data, sizes, strides, options);
  if (isWritten)
    tensor = tensor.clone();
  tensors.emplace(number, tensor);
  return tensor;
}

bool ArgumentReader::isOperandMemory(const at::Tensor &tensor) const {
  const void *memory = tensor.storage().data();
  return std::ranges::any_of(operands, [&](const FallbackValue &operand) {
    return operand.kind == FallbackKind::Tensor && operand.data == memory;
  });
}

Result<at::Tensor> ArgumentReader::lastOperand() {
  if (operands.empty() || operands.back().kind != FallbackKind::Tensor)
    return corruptError("the last operand is no tensor");
  return operandTensor(operands.size() - 1);
}

Result<c10::IValue> ArgumentReader::operand(const json &number, const c10::TypePtr &type) {
  if (!number.is_number_unsigned() || number.get<size_t>() >= operands.size())
    return corruptError("an argument refers to an operand that does not exist");
  const FallbackValue &given = operands[number.get<size_t>()];
  switch (given.kind) {
  case FallbackKind::None:
    return c10::IValue();
  case FallbackKind::Int:
    return scalarAs(at::Scalar(given.integer), type, number);
  case FallbackKind::Float:
    return scalarAs(at::Scalar(given.number), type, number);
  case FallbackKind::Bool:
    return scalarAs(at::Scalar(given.integer != 0), type, number);
  case FallbackKind::Tensor:
    break;
  }
  INGOT_TRY(at::Tensor tensor, operandTensor(number.get<size_t>()));
  if (type->kind() == c10::TypeKind::TensorType)
    return c10::IValue(std::move(tensor));
  // A tensor of one element is a number, as in Python.
  if (tensor.numel() == 1)
    return scalarAs(tensor.item(), type, number);
  return mismatch(json{{"value", number}}, type);
}

Result<c10::IValue> ArgumentReader::list(const json &items, const c10::TypePtr &element) {
  c10::impl::GenericList values(element);
  values.reserve(items.size());
  for (const json &item : items) {
    INGOT_TRY(c10::IValue converted, value(item, element));
    values.push_back(std::move(converted));
  }
  return c10::IValue(std::move(values));
}

Result<c10::IValue> ArgumentReader::value(const json &source, const c10::TypePtr &type) {
  if (type->kind() == c10::TypeKind::OptionalType) {
    if (source.is_null())
      return c10::IValue();
    return value(source, type->castRaw<c10::OptionalType>()->getElementType());
  }
  if (source.is_null() && type->kind() == c10::TypeKind::TensorType)
    return c10::IValue(at::Tensor());
  if (source.is_array() && type->kind() == c10::TypeKind::ListType)
    return list(source, type->castRaw<c10::ListType>()->getElementType());
  if (source.is_object() && source.size() == 1) {
    const std::string &kind = source.begin().key();
    return kind == "value" ? operand(source.begin().value(), type) : tagged(kind, source.begin().value(), type);
  }
  if (source.is_string() && type->kind() == c10::TypeKind::StringType)
    return c10::IValue(source.get<std::string>());
  if (std::optional<at::Scalar> number = literalNumber(source))
    return scalarAs(*number, type, source);
  return mismatch(source, type);
}

Result<c10::IValue> ArgumentReader::argument(const c10::Argument &declared, const json &source) {
  c10::TypePtr type = declared.type();
  if (type->kind() == c10::TypeKind::OptionalType && !source.is_null())
    type = type->castRaw<c10::OptionalType>()->getElementType();
  // `int[2] stride=1`: one number stands for all.
  if (type->kind() == c10::TypeKind::ListType && declared.N() && !source.is_array() && !source.is_null())
    return value(json(static_cast<size_t>(*declared.N()), source), type);
  return value(source, declared.type());
}

Result<std::vector<c10::IValue>> ArgumentReader::read(const c10::FunctionSchema &schema, const json &arguments,
                                                      std::span<const std::string> writes) {
  auto written = [&](const c10::Argument &declared) {
    return (declared.alias_info() && declared.alias_info()->isWrite()) || isRunningStatistic(declared.name()) ||
           std::ranges::find(writes, declared.name()) != writes.end();
  };
  for (const auto &item : arguments.items())
    if (!schema.argumentIndexWithName(item.key()))
      return unsupportedError("PyTorch's operator has no argument '" + item.key() + "'")
          .note("its schema is " + c10::toString(schema));
  std::vector<c10::IValue> stack(schema.arguments().size());
  // Written arguments first: an operand that is passed twice is then the same copy in both places.
  for (bool wanted : {true, false})
    for (size_t i = 0; i < stack.size(); ++i) {
      const c10::Argument &declared = schema.arguments()[i];
      if (written(declared) != wanted)
        continue;
      isWritten = wanted;
      if (auto given = arguments.find(declared.name()); given != arguments.end()) {
        INGOT_TRY(stack[i], argument(declared, *given));
      } else if (declared.default_value()) {
        stack[i] = *declared.default_value();
      } else {
        return unsupportedError("argument '" + declared.name() + "' is missing");
      }
    }
  return stack;
}

} // namespace ingot::fallback
