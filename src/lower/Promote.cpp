#include "lower/Promote.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ingot::lower {

bool isIntegral(Type dtype) { return isa<IntegerType>(dtype); }
bool isReducedFloat(Type dtype) { return dtype.isF16() || dtype.isBF16(); }

RankedTensorType tensorType(Value tensor) {
  assert(tensor && "there is no tensor");
  return cast<RankedTensorType>(tensor.getType());
}
Type dtypeOf(Value tensor) { return tensorType(tensor).getElementType(); }
int64_t rankOf(Value tensor) { return tensorType(tensor).getRank(); }
ArrayRef<int64_t> shapeOf(Value tensor) { return tensorType(tensor).getShape(); }

namespace {

unsigned bitsOf(Type dtype) { return dtype.getIntOrFloatBitWidth(); }

Type promoteIntegers(IntegerType a, IntegerType b) {
  if (isBool(a))
    return b;
  if (isBool(b))
    return a;
  if (a.isUnsigned() == b.isUnsigned())
    return bitsOf(a) >= bitsOf(b) ? a : b;
  IntegerType unsignedOne = a.isUnsigned() ? a : b, signedOne = a.isUnsigned() ? b : a;
  if (bitsOf(unsignedOne) > 8)
    return {}; // PyTorch promotes the wide unsigned types with nothing but themselves and floats.
  return bitsOf(signedOne) > 8 ? signedOne : IntegerType::get(a.getContext(), 16);
}

Type promoteFloats(Type a, Type b) {
  if (bitsOf(a) == 8 || bitsOf(b) == 8)
    return {};
  if (bitsOf(a) == bitsOf(b)) // float16 with bfloat16
    return Float32Type::get(a.getContext());
  return bitsOf(a) > bitsOf(b) ? a : b;
}

Type promoteComplex(Type a, Type b) {
  auto part = [](Type dtype) -> Type {
    auto complex = dyn_cast<ComplexType>(dtype);
    return complex ? complex.getElementType() : dtype;
  };
  Type element = isIntegral(a) ? part(b) : isIntegral(b) ? part(a) : promoteTypes(part(a), part(b));
  return element ? ComplexType::get(element) : Type();
}

/// Python numbers have the default type of their kind.
Type dtypeOfNumber(MLIRContext *context, Number::Kind kind) {
  switch (kind) {
  case Number::Bool:
    return IntegerType::get(context, 1);
  case Number::Int:
    return IntegerType::get(context, 64);
  case Number::Float:
    return Float32Type::get(context);
  case Number::Complex:
    return ComplexType::get(Float32Type::get(context));
  }
  return {};
}

/// Promotion within one category; null types are categories nobody is in.
struct Category {
  Type dtype;
  bool refused = false;

  void add(Type other) {
    if (!dtype) {
      dtype = other;
      return;
    }
    if (refused)
      return;
    Type promoted = promoteTypes(dtype, other);
    refused = !promoted;
    dtype = promoted ? promoted : dtype;
  }
};

Category combine(Category higher, Category lower) {
  if (higher.refused || lower.refused || !lower.dtype)
    return higher.refused ? higher : lower.refused ? lower : higher;
  if (!higher.dtype)
    return lower;
  if (isComplex(higher.dtype))
    return higher;
  if (isFloat(higher.dtype)) {
    if (isComplex(lower.dtype))
      higher.dtype = ComplexType::get(computeType(higher.dtype));
    return higher;
  }
  if (isBool(higher.dtype) || !isIntegral(lower.dtype))
    higher.add(lower.dtype);
  return higher;
}

} // namespace

Type promoteTypes(Type a, Type b) {
  if (a == b)
    return a;
  if (isComplex(a) || isComplex(b))
    return promoteComplex(a, b);
  if (isFloat(a) && isFloat(b))
    return promoteFloats(a, b);
  if (isFloat(a) || isFloat(b))
    return isFloat(a) ? a : b;
  return promoteIntegers(cast<IntegerType>(a), cast<IntegerType>(b));
}

Type resultType(MLIRContext *context, ArrayRef<Operand> operands) {
  Category shaped, zeroDim, numbers;
  for (const Operand &operand : operands) {
    if (!operand.isTensor())
      numbers.add(dtypeOfNumber(context, operand.number.kind));
    else
      (rankOf(operand.tensor) ? shaped : zeroDim).add(dtypeOf(operand.tensor));
  }
  Category result = combine(shaped, combine(zeroDim, numbers));
  return result.refused ? Type() : result.dtype;
}

Type floatType(Type dtype) { return isIntegral(dtype) ? Float32Type::get(dtype.getContext()) : dtype; }

Type computeType(Type dtype) { return isReducedFloat(dtype) ? Float32Type::get(dtype.getContext()) : dtype; }

} // namespace ingot::lower
