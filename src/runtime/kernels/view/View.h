// What the kernels of this family share.
#pragma once

#include "runtime/Kernel.h"

#include <optional>

namespace ingot {

/// A list attribute whose dynamic entries (INT64_MIN) are taken from the scalar operands from
/// `firstScalar` on; all of them must be used.
Result<std::vector<int64_t>> dynamicListAttr(const StepContext &context, std::string_view name, size_t firstScalar);

/// Strides that show the elements of `desc` in row-major order with other sizes; nullopt if that needs a
/// copy. The number of elements must be the same.
std::optional<std::vector<int64_t>> reshapeStrides(const TensorDesc &desc, std::span<const int64_t> sizes);

/// The attributes `axis`, `bounds` and `step`, clamped to x.
struct SliceRange {
  int64_t axis = 0;
  int64_t start = 0;
  int64_t count = 0;
  int64_t step = 1;
};
Result<SliceRange> sliceRange(const StepContext &context, const TensorDesc &x, size_t firstScalar);

} // namespace ingot
