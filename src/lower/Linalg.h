// What lowerings of linear algebra share.
#pragma once

#include "dialect/LinalgOps.h"
#include "lower/Complex.h"
#include "lower/Lowering.h"

namespace ingot::lower {

/// A tensor with the leading dimensions of `like`, a batch of matrices, and then `trailing`.
mlir::RankedTensorType batchedType(mlir::Value like, llvm::ArrayRef<int64_t> trailing, mlir::Type dtype = {});
/// The last dimensions but `back`: -1 is that of columns, -2 that of rows.
int64_t sizeAt(mlir::Value x, int64_t back);
/// The smaller of rows and columns.
int64_t rankLimit(mlir::Value x);

/// The leading dimensions of a batch of matrices.
Sizes batchSizes(LowerContext &ctx, mlir::Value x);

/// Refuses what is no matrix of a type that PyTorch factorises.
bool isMatrix(LowerContext &ctx, mlir::Value x);

mlir::Value matrixTranspose(LowerContext &ctx, mlir::Value x);
mlir::Value adjoint(LowerContext &ctx, mlir::Value x);
/// Zeros below (or above) the diagonal with this number.
mlir::Value triangle(LowerContext &ctx, mlir::Value x, bool isUpper, int64_t diagonal);
/// A batch of identity matrices like the square matrix `x`.
mlir::Value identityLike(LowerContext &ctx, mlir::Value x);
/// The leading dimensions of both, broadcast; the last two stay.
void broadcastBatches(LowerContext &ctx, mlir::Value &a, mlir::Value &b);
/// No elements, of the result's type: what PyTorch gives for results nobody asked for.
mlir::Value emptyResult(LowerContext &ctx, size_t result);

struct LuFactors {
  mlir::Value lu, pivots, info;
};
LuFactors factorLu(LowerContext &ctx, mlir::Value x, llvm::StringRef check = "");
/// X of A X = B, or of X A = B where not `left`; Aᴴ with `isAdjoint`. Batches broadcast.
mlir::Value solveLu(LowerContext &ctx, const LuFactors &factors, mlir::Value b, bool left, bool isAdjoint);
mlir::Value inverse(LowerContext &ctx, mlir::Value x, llvm::StringRef check);

struct SvdFactors {
  mlir::Value u, s, vh;
};
SvdFactors factorSvd(LowerContext &ctx, mlir::Value x, bool isFull);

struct EighFactors {
  mlir::Value values, vectors;
};
EighFactors factorEigh(LowerContext &ctx, mlir::Value x, bool isUpper);

} // namespace ingot::lower
