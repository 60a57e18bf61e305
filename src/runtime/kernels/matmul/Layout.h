// Rewriting the operands of a matrix product into shapes that oneDNN is fast on.
#pragma once

#include "runtime/Kernel.h"

#include <optional>

namespace ingot {

/// The matrices of a product, all of one rank: 2 where everything is one product, 3 where there is one
/// batch dimension, more where batches cannot be merged.
struct MatmulShapes {
  TensorDesc a, b, result;
};

/// Leading dimensions of size 1 up to `rank`; dimensions repeated by a stride of 0 get size 1.
TensorDesc asBatchedMatrix(TensorDesc desc, size_t rank);

/// Whether it is `count` elements side by side, with any dimensions of size 1.
bool isDenseVector(const TensorDesc &desc, int64_t count);

/// Whether elements do not overlap and matrices are row- or column-major.
bool isGemmLayout(const TensorDesc &desc);

/// Folds batches into rows where b is one matrix; else merges batch dimensions where memory allows it.
MatmulShapes simplifyMatmul(const TensorDesc &a, const TensorDesc &b, const TensorDesc &result);

/// Strides of dimensions of size 1 do not matter, but oneDNN wants them to look dense.
TensorDesc withSaneStrides(TensorDesc desc);

} // namespace ingot
