#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot {

/// Whether steps after this op can only be planned when it has run.
bool isBarrier(mlir::Operation &op);

/// Makes a private function of the module, placed before `user`: whoever calls comes later.
mlir::func::FuncOp makePrivate(mlir::func::FuncOp user, llvm::StringRef suffix, mlir::TypeRange arguments,
                               mlir::TypeRange results);

/// Cuts a function with barriers into private functions between them. Does nothing without barriers.
void cutIntoSegments(mlir::func::FuncOp func);

} // namespace ingot
