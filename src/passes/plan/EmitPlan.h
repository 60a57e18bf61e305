// From an optimised module to the plan that the runtime executes.
#pragma once

#include "base/Result.h"
#include "runtime/Plan.h"

#include <mlir/IR/BuiltinOps.h>

namespace ingot {

/// Every function of the module becomes an entry point. Ops that depend on constants only go to the
/// prologue. Exported nodes that were not lowered become steps `aten`. Fails on attributes that a plan cannot hold.
Result<Plan> emitPlan(mlir::ModuleOp module);

} // namespace ingot
