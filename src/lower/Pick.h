// Positions in several dimensions at once, as `x[:, i, mask]` gives them.
#pragma once

#include "lower/Lowering.h"

namespace ingot::lower {

/// A tensor and the index tensors of consecutive dimensions, `axes`. Where the program's are not consecutive, the
/// dimensions of `x` have been put in another `order`, the indexed ones first.
struct Picks {
  mlir::Value x;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> axes;
  llvm::SmallVector<int64_t> order;
  bool refusesNegative = false; ///< positions that count from the end are errors, as in index_add

  bool isEmpty() const { return indices.empty(); }
};

/// Of the argument `indices`; boolean masks become the positions where they hold. nullopt after refusing.
std::optional<Picks> collectPicks(LowerContext &ctx, mlir::Value x, llvm::ArrayRef<mlir::Value> indices);

/// The elements at the positions; null after refusing.
mlir::Value pick(LowerContext &ctx, const Picks &picks);

/// `x` with `source`, expanded to the sizes that pick() would give, combined into these positions. Null after refusing.
mlir::Value put(LowerContext &ctx, const Picks &picks, mlir::Value source, llvm::StringRef reduce,
                bool includeSelf = true);

/// What an op picked or put, where eager refuses negative positions: so does the kernel then.
mlir::Value refusingNegative(mlir::Value made);

/// The sizes that the tensors broadcast to.
Sizes broadcastSizes(LowerContext &ctx, llvm::ArrayRef<mlir::Value> values);

/// A zero-dimensional tensor as one element of a vector.
mlir::Value atLeastVector(LowerContext &ctx, mlir::Value x);

/// Whether a mask, as index of a tensor: booleans, and (as of old) uint8.
bool isMask(mlir::Value index);

} // namespace ingot::lower
