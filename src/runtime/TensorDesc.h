// Questions about a tensor's shape and placement that Binding and the kernels share.
#pragma once

#include "runtime/Kernel.h"

#include <optional>
#include <string>

namespace ingot {

/// The memory order (outermost dimension first) of a tensor without gaps or overlaps; nullopt for others.
/// Leading dimensions of size 1 come first, others of size 1 last.
std::optional<std::vector<int64_t>> denseOrder(const TensorDesc &desc);

/// Elements that a tensor touches, relative to its first one: [begin, end).
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
};

/// nullopt if a size is negative or anything overflows.
std::optional<Extent> checkedExtent(const TensorDesc &desc);

/// Bytes of the tensor's elements, without gaps.
Result<size_t> checkedBytes(const TensorDesc &desc);

/// "[2, ?, 3]".
std::string shapeText(std::span<const int64_t> sizes);
/// "float32[2, 3]".
std::string describe(const TensorDesc &desc);

} // namespace ingot
