// Moves elements between two strided tensors of one shape, whatever their dtype.
#pragma once

#include "runtime/Kernel.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

/// The loop nest of one copy, decided once: dimensions in the order of the target's memory, neighbours
/// merged, and a tiled transpose where source and target run along different dimensions.
class StridedCopy {
public:
  StridedCopy() = default;
  /// Strides are in elements; the source's may be zero or negative.
  StridedCopy(std::span<const int64_t> sizes, std::span<const int64_t> srcStrides, std::span<const int64_t> dstStrides,
              size_t elementBytes);

  /// Copies, on several threads where it is worth it. The memory must not overlap.
  void run(const void *src, void *dst) const;

private:
  struct Dim {
    int64_t size, src, dst;
  };
  enum class Mode { Nothing, Rows, Transpose };

  void chooseTranspose();
  void runRows(const std::byte *src, std::byte *dst) const;
  void runTranspose(const std::byte *src, std::byte *dst) const;
  template <typename Visit> void forEachOuter(int64_t begin, int64_t end, Visit visit) const;

  Mode mode = Mode::Nothing;
  size_t elementBytes = 1;
  std::vector<Dim> outer;
  int64_t outerCount = 1;
  Dim across{1, 0, 0}; ///< transposes only: the dimension that is contiguous in the source
  Dim inner{1, 0, 0};
};

} // namespace ingot
