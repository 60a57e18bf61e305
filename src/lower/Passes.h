#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace ingot::lower {

/// `lower-aten`, on functions: carriers become ops of the ingot and arith dialects. What has no row
/// in aten_ops.inc, or is refused by it, stays.
///
///   ingot.aten "aten::square"(%x) {args = {self = #ingot.value<0>}}
///     becomes  ingot.mul %x, %x
std::unique_ptr<mlir::Pass> createLowerAtenPass();

void registerLowerPasses();

} // namespace ingot::lower
