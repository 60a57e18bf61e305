// Programs that were written by hand instead of exported.
#pragma once

#include "pipeline/Pipeline.h"

#include <mlir/IR/BuiltinOps.h>

namespace ingot {

/// Loads the dialects that a module needs.
void prepareAuthoring(mlir::MLIRContext &context);

Result<std::string> moduleBytecode(mlir::ModuleOp module);

/// A copy of the module is optimised: what an asset is written from.
Result<Converted> convertAuthored(mlir::ModuleOp module, const PipelineOptions &options);

} // namespace ingot
