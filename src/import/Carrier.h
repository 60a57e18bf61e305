// Reading and making carrier operations outside of the importer.
#pragma once

#include "dialect/Ops.h"

#include "mlir/IR/Builders.h"

#include <functional>

namespace ingot {

/// "aten::add_.Tensor" apart: "aten::add_" and "Tensor".
struct TargetName {
  llvm::StringRef name, overload;

  explicit TargetName(llvm::StringRef target);
};

/// The operand that argument `name` is; null when it is absent, a literal or a list.
mlir::Value operandOf(AtenOp op, llvm::StringRef name);
/// The number of that operand; nullopt likewise.
std::optional<unsigned> operandNumberOf(AtenOp op, llvm::StringRef name);
/// The literal integer that argument `name` is.
std::optional<int64_t> integerOf(AtenOp op, llvm::StringRef name);
std::optional<bool> booleanOf(AtenOp op, llvm::StringRef name);

/// Collects the arguments of a new carrier. `create` fills in the schema's defaults.
class CarrierBuilder {
public:
  CarrierBuilder(mlir::OpBuilder &builder, mlir::Location location, llvm::StringRef target)
      : builder(builder), location(location), target(target) {}

  CarrierBuilder &arg(llvm::StringRef name, mlir::Value value);
  CarrierBuilder &arg(llvm::StringRef name, mlir::Attribute literal);
  CarrierBuilder &arg(llvm::StringRef name, int64_t literal);
  CarrierBuilder &arg(llvm::StringRef name, llvm::ArrayRef<mlir::OpFoldResult> list);
  /// The argument as `from` has it, whatever it is.
  CarrierBuilder &copy(AtenOp from, llvm::StringRef name);

  AtenOp create(mlir::TypeRange results);
  /// Of an operation with one result.
  mlir::Value value(mlir::Type result) { return create(result).getResults().front(); }

private:
  mlir::Attribute reference(mlir::Value value);

  mlir::OpBuilder &builder;
  mlir::Location location;
  std::string target;
  mlir::NamedAttrList args;
  llvm::SmallVector<mlir::Value> operands;
};

} // namespace ingot
