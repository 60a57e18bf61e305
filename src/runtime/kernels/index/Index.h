// What the kernels that pick by index share: positions read from integer tensors, and checked.
#pragma once

#include "runtime/kernels/elementwise/Checks.h"

namespace ingot {

/// int64 or int32.
Status checkIndexType(const StepContext &context, const TensorDesc &index);

/// An index tensor as a source of positions in a dimension with `size` elements.
class Positions {
public:
  Positions(std::string kernel, const TensorDesc &index, std::span<const int64_t> sizes, int64_t size);

  int64_t count() const { return total; }
  /// Writes all positions, in row-major order of the sizes that the index broadcasts to. Negative ones count
  /// from the end; the error names the first one out of range.
  Status read(const void *indices, int64_t *positions) const;

private:
  template <typename T> Status readTyped(const T *indices, int64_t *positions) const;
  int64_t offsetOf(int64_t i) const;

  std::string kernel;
  DType dtype;
  std::vector<int64_t> sizes, strides;
  int64_t size, total;
  bool isContiguous;
};

} // namespace ingot
