// A .pt2 program as a function of carrier operations: one walk, one `ingot.aten` a node.
#pragma once

#include "base/Result.h"
#include "import/WeightTable.h"
#include "pt2/Archive.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace ingot {

struct ImportOptions {
  std::string entry = "main"; ///< the function's name
  /// What the weights' names in the table start with.
  std::string weightPrefix = {};
  /// The function takes its weights as arguments, before the user's; kWeights names them.
  bool takesWeights = false;
};

/// Adds one function to the module, with the signature that dialect/Conventions.h describes. Operators that torch does
/// not know are kept as they are; in-place ones too (see passes/functionalise).
///
/// The context must have the ingot, func and arith dialects loaded.
Status importProgram(const pt2::Program &program, mlir::ModuleOp module, WeightTable &weights,
                     const ImportOptions &options = {});

} // namespace ingot
