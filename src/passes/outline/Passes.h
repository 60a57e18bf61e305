#pragma once

#include "dialect/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot {

#define GEN_PASS_DECL
#include "passes/outline/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/outline/Passes.h.inc"

} // namespace ingot
