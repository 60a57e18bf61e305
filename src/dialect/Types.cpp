#include "dialect/Types.h"
#include "dialect/Dialect.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ingot {

Type typeOfDType(DType dtype, MLIRContext *context) {
  auto integer = [&](unsigned width, bool isUnsigned = false) -> Type {
    return IntegerType::get(context, width, isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  switch (dtype) {
  case DType::Bool:
    return integer(1);
  case DType::Int8:
  case DType::Int16:
  case DType::Int32:
  case DType::Int64:
    return integer(byteSize(dtype) * 8);
  case DType::UInt8:
  case DType::UInt16:
  case DType::UInt32:
  case DType::UInt64:
    return integer(byteSize(dtype) * 8, /*isUnsigned=*/true);
  case DType::Float16:
    return Float16Type::get(context);
  case DType::BFloat16:
    return BFloat16Type::get(context);
  case DType::Float32:
    return Float32Type::get(context);
  case DType::Float64:
    return Float64Type::get(context);
  case DType::Float8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DType::Float8E5M2:
    return Float8E5M2Type::get(context);
  case DType::Float8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DType::Float8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DType::Float8E8M0FNU:
    return Float8E8M0FNUType::get(context);
  case DType::Complex32:
    return ComplexType::get(Float16Type::get(context));
  case DType::Complex64:
    return ComplexType::get(Float32Type::get(context));
  case DType::Complex128:
    return ComplexType::get(Float64Type::get(context));
  }
  return {};
}

std::optional<DType> dtypeOfType(Type type) {
  if (!type)
    return std::nullopt;
#define X(name, torchName, bytes, code, safetensorsName, dlpackCode)                                                   \
  if (type == typeOfDType(DType::name, type.getContext()))                                                             \
    return DType::name;
  INGOT_DTYPES(X)
#undef X
  return std::nullopt;
}

bool isBool(Type type) { return type.isSignlessInteger(1); }
bool isInteger(Type type) { return isa<IntegerType>(type) && !isBool(type); }
bool isFloat(Type type) { return isa<FloatType, Float8E8M0FNUType>(type); }
bool isComplex(Type type) { return isa<ComplexType>(type); }

} // namespace ingot
