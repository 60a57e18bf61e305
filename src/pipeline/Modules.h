// What every program in the compiler goes through, exported or written by hand.
#pragma once

#include "import/WeightTable.h"
#include "pipeline/Pipeline.h"

#include <mlir/IR/BuiltinOps.h>

namespace ingot {

/// Loads the dialects that a module needs.
void prepareContext(mlir::MLIRContext &context);

Result<std::string> moduleBytecode(mlir::ModuleOp module);

/// What an asset is written from, of a module that is optimised.
Result<Converted> finishModule(mlir::ModuleOp module, const WeightTable &weights);

} // namespace ingot
