// Attention whose weights are dropped at random, from its pieces.
#pragma once

#include "lower/Lowering.h"

namespace ingot::lower {

struct AttentionParts {
  mlir::Value q, k, v, mask; ///< the mask is null where there is none
  double scale = 1, dropout = 0;
  bool isCausal = false;
};

/// dropout(softmax(q kᵀ scale + mask)) v. The tensors have one rank and one number of heads.
mlir::Value attentionWithDropout(LowerContext &ctx, const AttentionParts &parts);

} // namespace ingot::lower
