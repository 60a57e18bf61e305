// Counts the bytes that are moved from one place to another without computing anything, so that tests can prove that
// large memory is not copied.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ingot {

/// Since the process started, by all threads.
inline std::atomic<uint64_t> copiedBytes = 0;

inline void countCopied(size_t bytes) { copiedBytes.fetch_add(bytes, std::memory_order_relaxed); }

/// memcpy, counted.
inline void countedCopy(void *to, const void *from, size_t bytes) {
  if (bytes > 0)
    std::memcpy(to, from, bytes);
  countCopied(bytes);
}

} // namespace ingot
