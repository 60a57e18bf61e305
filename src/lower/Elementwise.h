// Element-wise operators that are one op of the dialect: their rows in aten_ops.inc are all they need.
#pragma once

#include "lower/Lowering.h"

namespace ingot::lower {

/// What an operator does with its operands' types before it computes.
enum class Types : uint8_t {
  Keep,       ///< computes in the promoted type
  ToFloat,    ///< integers and booleans become float32: sin, div
  Rounding,   ///< as Keep; integers are the result already: floor
  NoComplex,  ///< as Keep; complex numbers have no order: maximum
  FloatsOnly, ///< PyTorch refuses integers: gelu
};

/// The promoted type of `operands`, or null after refusing.
mlir::Type promote(LowerContext &ctx, llvm::ArrayRef<Operand> operands, Types types = Types::Keep);

/// `x` as a tensor of the type that unary operators compute in, or null after refusing.
mlir::Value unaryOperand(LowerContext &ctx, Types types);

/// Both operands in their common type.
struct Pair {
  mlir::Value a, b;
};
std::optional<Pair> promotePair(LowerContext &ctx, const Operand &a, const Operand &b, Types types);

/// A number, or a tensor with one element. PyTorch's CPU kernels for float16 and bfloat16 often take it in float32.
bool isOneNumber(const Operand &operand);

/// The names of an operator's first two arguments: (self, other), (self, exponent), (x, n), ….
std::pair<llvm::StringRef, llvm::StringRef> pairNames(LowerContext &ctx);

// Values of operators that several lowerings compute; null after refusing.

/// a + alpha * b and its relatives. For float16 and bfloat16, PyTorch rounds alpha and the sum, but not the product.
/// Complex numbers are multiplied by an alpha of 1, too: that makes NaN of one part where the other is infinite.
template <typename Op>
mlir::Value withAlpha(LowerContext &ctx, const Operand &a, const Operand &b, const Number &alpha) {
  auto pair = promotePair(ctx, a, b, Types::Keep);
  if (!pair)
    return {}; // promotePair said why
  if (alpha.is(1) && !isComplex(dtypeOf(pair->a)))
    return ctx.binary<Op>(pair->a, pair->b);
  mlir::Type dtype = dtypeOf(pair->a), compute = computeType(dtype);
  mlir::Value factor = ctx.cast(ctx.constant(alpha, dtype), compute);
  mlir::Value product = ctx.binary<MulOp>(ctx.cast(pair->b, compute), factor);
  return ctx.cast(ctx.binary<Op>(ctx.cast(pair->a, compute), product), dtype);
}

/// a * b or a / b. For float16 and bfloat16, PyTorch's CPU kernels of these take a number in float32 and do not round
/// it to the tensor's type first; those of add and sub do.
template <typename Op> mlir::Value scaledBy(LowerContext &ctx, const Operand &a, const Operand &b, Types types) {
  auto pair = promotePair(ctx, a, b, types);
  if (!pair)
    return {}; // promotePair said why
  mlir::Type dtype = dtypeOf(pair->a);
  if (!isReducedFloat(dtype) || !isOneNumber(b) || !a.isTensor())
    return ctx.binary<Op>(pair->a, pair->b);
  mlir::Value wide = ctx.cast(pair->a, ctx.f32());
  return ctx.cast(ctx.binary<Op>(wide, ctx.as(b, ctx.f32())), dtype);
}

/// base^exponent, computed in `dtype`.
mlir::Value power(LowerContext &ctx, const Operand &base, const Operand &exponent, mlir::Type dtype);

/// From `self` to `end` by a weight.
mlir::Value interpolated(LowerContext &ctx, const Operand &self, const Operand &end, const Operand &weight);

/// One op on every tensor of the list `self`.
template <typename Op, Types types> mlir::LogicalResult lowerForeach(LowerContext &ctx) {
  llvm::SmallVector<mlir::Value> results;
  for (mlir::Value x : ctx.tensors("self")) {
    mlir::Type dtype = promote(ctx, {x}, types);
    if (!dtype)
      return mlir::failure(); // promote said why
    bool isDone = types == Types::Rounding && isIntegral(dtype);
    results.push_back(isDone ? x : ctx.unary<Op>(ctx.cast(x, dtype)));
  }
  return ctx.replace(results);
}

template <typename Op, Types types> mlir::LogicalResult lowerUnary(LowerContext &ctx) {
  mlir::Value x = unaryOperand(ctx, types);
  if (!x)
    return mlir::failure(); // unaryOperand said why
  if (types == Types::Rounding && isIntegral(dtypeOf(x)))
    return ctx.replace(x);
  return ctx.replace(ctx.unary<Op>(x));
}

template <typename Op> mlir::LogicalResult lowerTest(LowerContext &ctx) {
  return ctx.replace(ctx.test<Op>(ctx.tensor("self")));
}

template <typename Op, Types types> mlir::LogicalResult lowerBinary(LowerContext &ctx) {
  auto [first, second] = pairNames(ctx);
  auto pair = promotePair(ctx, ctx.operand(first), ctx.operand(second), types);
  if (!pair)
    return mlir::failure(); // promotePair said why
  return ctx.replace(ctx.binary<Op>(pair->a, pair->b));
}

template <typename Op> mlir::LogicalResult lowerCompare(LowerContext &ctx) {
  auto pair = promotePair(ctx, ctx.operand("self"), ctx.operand("other"), Types::Keep);
  if (!pair)
    return mlir::failure(); // promotePair said why
  return ctx.replace(ctx.compare<Op>(pair->a, pair->b));
}

/// Both as booleans: true where not zero.
template <typename Op> mlir::LogicalResult lowerLogical(LowerContext &ctx) {
  mlir::Value a = ctx.cast(ctx.tensor("self"), ctx.i1());
  return ctx.replace(ctx.binary<Op>(a, ctx.cast(ctx.tensor("other"), ctx.i1())));
}

} // namespace ingot::lower
