// A .pt2 program as a module of carrier operations: one walk, one `ingot.aten` a node.
#pragma once

#include "base/Result.h"
#include "pt2/Archive.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace ingot {

/// The module holds one function, `entry`, with the signature that dialect/Conventions.h describes. Operators
/// that torch does not know are kept as they are; in-place ones too (see passes/functionalise).
///
/// The context must have the ingot, func and arith dialects loaded.
Result<mlir::OwningOpRef<mlir::ModuleOp>> importProgram(const pt2::Program &program, mlir::MLIRContext &context,
                                                        llvm::StringRef entry = "main");

/// The key of the `ingot.weight` behind a parameter, buffer or constant: its name in the file. Weights that are
/// the same view of the same storage share the key of the first.
Result<std::string> weightKey(const pt2::Program &program, const pt2::InputSpec &input);

} // namespace ingot
