// Placing buffers of known lifetimes in one block of memory.
#pragma once

#include "base/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

inline constexpr size_t kBufferAlignment = 64;

struct BufferLife {
  size_t bytes = 0;
  int32_t first = 0; ///< first and last step that needs the buffer, both included
  int32_t last = 0;
};

struct MemoryPlan {
  std::vector<size_t> offsets; ///< one a buffer, multiples of kBufferAlignment
  size_t arenaBytes = 0;
  size_t totalBytes = 0; ///< what the buffers would take without sharing
};

/// Greedy by size: the largest buffer first, each at the tightest gap between those it lives beside.
Result<MemoryPlan> planMemory(std::span<const BufferLife> buffers);

} // namespace ingot
