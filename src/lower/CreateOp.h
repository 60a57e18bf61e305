// Builds ops by name, for those who know the dialect only by its documents. Every mistake is a message.
#pragma once

#include "dialect/InferResults.h"

#include "mlir/IR/Builders.h"

namespace ingot::lower {

struct OpRequest {
  std::string name; ///< "add" or "ingot.add"
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<int32_t> groups; ///< operands of each group, for ops with optional ones
  std::string attributes;            ///< "{axis = 1}"; empty for none
  mlir::Type dtype;                  ///< where the op leaves it open; may be null
  llvm::SmallVector<mlir::Type> results;
  bool infersResults = true; ///< `results` is not given
};

/// Ops of the ingot dialect without sub-graphs, and of arith. The op is verified.
Result<mlir::Operation *> createOp(mlir::OpBuilder &builder, mlir::Location loc, const OpRequest &request);

/// An `ingot.constant` of elements in row-major order; bools take a byte each.
Result<mlir::Value> createConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                                   llvm::ArrayRef<char> bytes);

/// The elements of a constant, laid out like those that createConstant takes; nullopt for other values.
std::optional<std::vector<char>> constantBytes(mlir::Value value);

} // namespace ingot::lower
