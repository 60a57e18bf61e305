// The passes that make an imported program pure. They run in the order in which they stand here.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace ingot {

/// `inline-regions`: puts the bodies of wrap_with_set_grad_enabled, of autocast regions that change nothing on a
/// CPU, and of their like in the place of the node. An autocast region that is enabled is an error.
std::unique_ptr<mlir::Pass> createInlineRegionsPass();

/// `drop-asserts`: removes nodes that only check something, and the numbers only they used.
std::unique_ptr<mlir::Pass> createDropAssertsPass();

/// `functionalise`: writes become new values. Before:
///
///   %v = ingot.aten "aten::select.int"(%x) ...
///   ingot.aten "aten::add_.Tensor"(%v, %y) ...
///   return %x
///
/// After:
///
///   %v = ingot.aten "aten::select.int"(%x) ...
///   %w = ingot.aten "aten::add.Tensor"(%v, %y) ...
///   %x1 = ingot.aten "aten::select_scatter"(%x, %w) ...
///   return %x1
///
/// Weights that are written become states, written inputs become results (see dialect/Conventions.h). All
/// writes that cannot be expressed are reported, not only the first.
std::unique_ptr<mlir::Pass> createFunctionalisePass();

void registerFunctionalisePasses();

} // namespace ingot
