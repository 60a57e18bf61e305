// Bodies: private functions that stand for an operator of the exported program, such as externalized modules.
#pragma once

#include "dialect/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot {

#define GEN_PASS_DECL
#include "passes/compose/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/compose/Passes.h.inc"

} // namespace ingot
