// What the lowerings of losses share.
#pragma once

#include "lower/Elementwise.h"

namespace ingot::lower {

/// Values of the `reduction` argument.
inline constexpr int64_t kNoReduction = 0, kMeanReduction = 1, kSumReduction = 2;

/// The losses themselves, their mean or their sum, by the `reduction` argument.
mlir::Value reduceLoss(LowerContext &ctx, mlir::Value loss, mlir::Type dtype);

/// NaN stays.
mlir::Value atLeastZero(LowerContext &ctx, mlir::Value x);
/// log(1 / (1 + exp(-x))) without overflow.
mlir::Value logSigmoid(LowerContext &ctx, mlir::Value x);

} // namespace ingot::lower
