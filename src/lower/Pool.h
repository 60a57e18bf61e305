// What pooling and its gradients share.
#pragma once

#include "lower/Lowering.h"

namespace ingot::lower {

/// For every result position along one dimension of an adaptive mean, the share of each input position: [out, in].
mlir::Value adaptiveShares(LowerContext &ctx, Size in, Size out, mlir::Type dtype);

} // namespace ingot::lower
