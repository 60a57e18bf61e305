#include "codegen/Reduction.h"

#include "codegen/KernelEmitter.h"
#include "codegen/ScalarFunctions.h"

#include <llvm/IR/Intrinsics.h>

namespace ingot::codegen {

Reduction::Reduction(ReduceOp op, llvm::IRBuilder<> &builder)
    : operand(op.getX()), kind(op.getKind()), element(op.getX().getType().getElementType()),
      isBool(element.isInteger(1)), isUnsigned(element.isUnsignedInteger()),
      isHalf(element.isF16() || element.isBF16()), builder(builder), type(storageType(builder.getContext(), element)) {
  if (isLogical())
    type = builder.getInt8Ty();
  else if (isHalf)
    type = builder.getFloatTy(); // PyTorch accumulates 16-bit floats in 32 bits as well
}

llvm::Constant *Reduction::initial() const {
  if (isLogical())
    return builder.getInt8(isDisjunction() ? 0 : 1);
  if (kind == ReduceKind::Sum)
    return llvm::Constant::getNullValue(type);
  if (kind == ReduceKind::Prod)
    return type->isFloatingPointTy() ? llvm::ConstantFP::get(type, 1.0) : llvm::ConstantInt::get(type, 1);
  bool isMax = kind == ReduceKind::Max;
  if (type->isFloatingPointTy())
    return llvm::ConstantFP::getInfinity(type, /*Negative=*/isMax);
  unsigned bits = type->getIntegerBitWidth();
  if (isUnsigned)
    return llvm::ConstantInt::get(type, isMax ? llvm::APInt::getMinValue(bits) : llvm::APInt::getMaxValue(bits));
  return llvm::ConstantInt::get(type,
                                isMax ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getSignedMaxValue(bits));
}

/// The element in the accumulator's type.
llvm::Value *Reduction::widen(llvm::Value *value) const {
  if (isHalf)
    value = callScalar(builder, castFunctionName(dtypeSuffix(element), "f32"), builder.getFloatTy(), {value});
  if (!isLogical() || isBool)
    return value;
  llvm::Value *zero = llvm::Constant::getNullValue(value->getType());
  // NaN counts as true.
  llvm::Value *isTrue =
      value->getType()->isFloatingPointTy() ? builder.CreateFCmpUNE(value, zero) : builder.CreateICmpNE(value, zero);
  return builder.CreateZExt(isTrue, type);
}

llvm::Value *Reduction::combine(llvm::Value *accumulator, llvm::Value *value) const {
  return merge(accumulator, widen(value));
}

llvm::Value *Reduction::merge(llvm::Value *a, llvm::Value *b) const {
  if (isLogical())
    return isDisjunction() ? builder.CreateOr(a, b) : builder.CreateAnd(a, b);
  return type->isFloatingPointTy() ? combineFloats(a, b) : combineIntegers(a, b);
}

llvm::Value *Reduction::combineFloats(llvm::Value *accumulator, llvm::Value *value) const {
  llvm::IRBuilder<>::FastMathFlagGuard guard(builder);
  llvm::FastMathFlags flags;
  // Only the order of the reduction itself is free; what it reduces is computed as written.
  flags.setAllowReassoc();
  if (kind == ReduceKind::Sum || kind == ReduceKind::Prod) {
    builder.setFastMathFlags(flags);
    return kind == ReduceKind::Sum ? builder.CreateFAdd(accumulator, value) : builder.CreateFMul(accumulator, value);
  }
  // These intrinsics let NaN win, as PyTorch does. Which of two zeros wins does not matter.
  flags.setNoSignedZeros();
  builder.setFastMathFlags(flags);
  auto id = kind == ReduceKind::Max ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum;
  return builder.CreateBinaryIntrinsic(id, accumulator, value);
}

llvm::Value *Reduction::combineIntegers(llvm::Value *accumulator, llvm::Value *value) const {
  switch (kind) {
  case ReduceKind::Sum:
    return builder.CreateAdd(accumulator, value);
  case ReduceKind::Prod:
    return builder.CreateMul(accumulator, value);
  case ReduceKind::Max:
    return builder.CreateBinaryIntrinsic(isUnsigned ? llvm::Intrinsic::umax : llvm::Intrinsic::smax, accumulator,
                                         value);
  default:
    return builder.CreateBinaryIntrinsic(isUnsigned ? llvm::Intrinsic::umin : llvm::Intrinsic::smin, accumulator,
                                         value);
  }
}

llvm::Value *Reduction::finish(llvm::Value *accumulator) const {
  if (!isHalf || isLogical())
    return accumulator;
  return callScalar(builder, castFunctionName("f32", dtypeSuffix(element)), builder.getInt16Ty(), {accumulator});
}

} // namespace ingot::codegen
