// Norms that change their running statistics, although some schemas do not say so. Private to this folder.
#pragma once

#include "dialect/Ops.h"

#include "mlir/IR/Builders.h"

namespace ingot {

/// The schema says that running statistics are written, but in this mode they are not.
bool keepsStatistics(AtenOp op);

/// Running statistics are changed.
bool updatesStatistics(AtenOp op);

/// The same node without writing: its results, and what it would have written.
struct StatisticsUpdate {
  llvm::SmallVector<mlir::Value> results;
  mlir::Value mean, variance;
};
StatisticsUpdate updateStatistics(mlir::OpBuilder &builder, AtenOp op);

} // namespace ingot
