// Programs that were written by hand instead of exported.
#pragma once

#include "pipeline/Pipeline.h"

#include <mlir/IR/BuiltinOps.h>

namespace ingot {

/// A copy of the module is optimised: what an asset is written from.
Result<Converted> convertAuthored(mlir::ModuleOp module, const PipelineOptions &options);

} // namespace ingot
