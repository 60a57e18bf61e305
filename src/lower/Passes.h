#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace ingot::lower {

class CustomLowerings;

/// `lower-aten`, on functions: carriers become ops of the ingot and arith dialects. What has no row
/// in aten_ops.inc, or is refused by it, stays.
///
///   ingot.aten "aten::square"(%x) {args = {self = #ingot.value<0>}}
///     becomes  ingot.mul %x, %x
///
/// The lowerings of `custom`, which outlives the pass, go first; null for none.
std::unique_ptr<mlir::Pass> createLowerAtenPass(const CustomLowerings *custom = nullptr);

void registerLowerPasses();

} // namespace ingot::lower
