// What a rule of InferRules.cpp sees of the op whose result types it tells. Private to this folder.
#pragma once

#include "dialect/InferResults.h"
#include "dialect/InferShape.h"

#include <string>

namespace ingot {

using Types = llvm::SmallVector<mlir::Type>;

/// Gives operands and attributes their types. What is missing is remembered as the problem, and a harmless stand-in is
/// given instead.
class Inference {
public:
  explicit Inference(const OpDescription &op) : op(op) {}

  /// The operand, or the only operand of the group, number `index`.
  mlir::RankedTensorType tensor(size_t index);
  bool hasOperand(size_t index) const { return index < op.groups.size() && op.groups[index] == 1; }
  /// The operand's type, tensor or not.
  mlir::Type type(size_t index);
  mlir::TypeRange operands() const { return op.operands; }

  mlir::Attribute attribute(llvm::StringRef name);
  int64_t integer(llvm::StringRef name);
  bool flag(llvm::StringRef name) { return integer(name) != 0; }
  ShapeRef list(llvm::StringRef name);

  mlir::MLIRContext *context() const { return op.attributes.getContext(); }
  mlir::Type i1() const;
  mlir::Type i32() const;
  mlir::Type i64() const;
  /// The element type that the caller gave.
  mlir::Type dtype();

  /// x with its last dimensions replaced.
  mlir::RankedTensorType withSpatial(mlir::RankedTensorType x, ShapeRef spatial);

  void fail(std::string text) {
    if (problem.empty())
      problem = std::move(text);
  }
  const OpDescription &op;
  std::string problem;
};

using InferRule = Types (*)(Inference &);

/// Null for ops without a rule.
InferRule findInferRule(llvm::StringRef name);

} // namespace ingot
