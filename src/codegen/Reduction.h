// How a reduction starts, takes one more element, and ends.
#pragma once

#include "dialect/Ops.h"

#include <llvm/IR/IRBuilder.h>

namespace ingot::codegen {

class Reduction {
public:
  Reduction(ReduceOp op, llvm::IRBuilder<> &builder);

  mlir::Value input() const { return operand; }
  /// True for sums that lose digits, the more the longer they are.
  bool rounds() const { return kind == ReduceKind::Sum && type->isFloatingPointTy(); }
  llvm::Constant *initial() const;
  /// The accumulator after `element`, which is in storage form.
  llvm::Value *combine(llvm::Value *accumulator, llvm::Value *element) const;
  /// Two accumulators in one.
  llvm::Value *merge(llvm::Value *a, llvm::Value *b) const;
  /// The result in storage form.
  llvm::Value *finish(llvm::Value *accumulator) const;

private:
  bool isLogical() const { return kind == ReduceKind::Any || kind == ReduceKind::All || isBool; }
  /// True when the accumulator of a logical reduction becomes 1 as soon as one element is 1.
  bool isDisjunction() const { return kind == ReduceKind::Any || kind == ReduceKind::Max || kind == ReduceKind::Sum; }
  llvm::Value *widen(llvm::Value *element) const;
  llvm::Value *combineFloats(llvm::Value *accumulator, llvm::Value *element) const;
  llvm::Value *combineIntegers(llvm::Value *accumulator, llvm::Value *element) const;

  mlir::Value operand;
  ReduceKind kind;
  mlir::Type element;
  bool isBool, isUnsigned, isHalf;
  llvm::IRBuilder<> &builder;
  llvm::Type *type; ///< of the accumulator
};

} // namespace ingot::codegen
