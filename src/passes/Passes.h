// The passes of src/passes that work on lowered programs. Descriptions are in Passes.td.
#pragma once

#include "dialect/Ops.h"

#include <memory>

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/Pass/Pass.h>

namespace ingot {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace ingot
