// Lists of tensors that are joined.
#pragma once

#include "lower/Emit.h"

namespace ingot::lower {

/// PyTorch ignores empty vectors among tensors of any rank, unless there is nothing else.
inline void dropNothing(llvm::SmallVectorImpl<mlir::Value> &values) {
  auto isNothing = [](mlir::Value value) { return rankOf(value) == 1 && shapeOf(value).front() == 0; };
  if (!llvm::all_of(values, isNothing))
    llvm::erase_if(values, isNothing);
}

} // namespace ingot::lower
