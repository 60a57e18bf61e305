// The passes that prepare code generation. Descriptions are in Passes.td.
#pragma once

#include "dialect/Ops.h"

#include <memory>

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Pass/Pass.h>

namespace ingot {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/fuse/Passes.h.inc"

/// Makes the passes known to command lines by name.
void registerFusePasses();

} // namespace ingot
