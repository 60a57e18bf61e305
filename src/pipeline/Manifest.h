// What an asset says of itself, read off the optimised module.
#pragma once

#include "asset/Writer.h"
#include "base/Result.h"
#include "import/WeightTable.h"

#include <mlir/IR/BuiltinOps.h>

namespace ingot {

/// Entry points, operator counts and the weights that the module still uses. Fails if one is missing.
Result<asset::Content> describeContent(mlir::ModuleOp module, const WeightTable &weights);

} // namespace ingot
