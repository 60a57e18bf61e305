// Blocks of memory that are used again: arenas and outputs of one program.
#pragma once

#include <cstddef>
#include <memory>

namespace ingot {

/// Thread-safe. Blocks may outlive the pool's owner: the memory goes back to the system then.
class MemoryPool {
public:
  MemoryPool();
  ~MemoryPool();
  MemoryPool(const MemoryPool &) = delete;
  MemoryPool &operator=(const MemoryPool &) = delete;

  /// At least `bytes`, 64-byte aligned, with any content; null when there is no memory.
  std::shared_ptr<std::byte> take(size_t bytes);

private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf;
};

} // namespace ingot
