// What the inputs, outputs and states of entry points are called, and which states they share.
#pragma once

#include "import/WeightTable.h"
#include "pipeline/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// To be called once it is known what the programs write. Buffers whose states have one name are one state of all entry
/// points; they must have one type and one initial value.
Status nameEntries(const Parts &parts, mlir::ModuleOp module, WeightTable &weights);

} // namespace ingot
