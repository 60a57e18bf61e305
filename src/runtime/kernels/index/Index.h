// What the kernels that pick by index share: positions read from integer tensors, and checked.
#pragma once

#include "runtime/kernels/elementwise/Checks.h"

namespace ingot {

/// int64 or int32.
Status checkIndexType(const StepContext &context, const TensorDesc &index);

/// An index tensor as a source of positions in a dimension with `size` elements.
class Positions {
public:
  /// `countsFromEnd`: negative positions do.
  Positions(std::string kernel, const TensorDesc &index, std::span<const int64_t> sizes, int64_t size,
            bool countsFromEnd);

  int64_t count() const { return total; }
  /// Writes all positions, in row-major order of the sizes that the index broadcasts to. The error names the first one
  /// out of range.
  Status read(const void *indices, int64_t *positions) const;

private:
  template <typename T> Status readTyped(const T *indices, int64_t *positions) const;
  int64_t offsetOf(int64_t i) const;

  std::string kernel;
  DType dtype;
  std::vector<int64_t> sizes, strides;
  int64_t size, total;
  bool isContiguous, countsFromEnd;
};

/// Whether a step takes negative positions. Eager has operators of both kinds.
inline bool countsFromEnd(const StepContext &context) { return !context.attr<bool>("ingot.non_negative", false); }

} // namespace ingot
