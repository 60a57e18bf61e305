#include "runtime/MemoryPool.h"

#include "base/ForkSafeMutex.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sys/mman.h>

namespace ingot {
namespace {

constexpr size_t kAlignment = 64;
/// Large blocks are aligned and marked for huge pages: fewer page faults at the first touch.
constexpr size_t kHugePage = 2 << 20;
/// More unused memory than this goes back to the system.
constexpr size_t kMaxShelved = size_t(1) << 30;
constexpr size_t kMaxShelvedBlocks = 64;

std::byte *allocate(size_t bytes) {
  size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kAlignment;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0)
    return nullptr;
  if (alignment == kHugePage)
    madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte *>(memory);
}

} // namespace

struct MemoryPool::Shelf {
  ForkSafeMutex mutex;
  std::multimap<size_t, std::byte *> free;
  size_t freeBytes = 0;

  ~Shelf() {
    for (auto &[bytes, memory] : free)
      std::free(memory);
  }

  /// The smallest block that fits and wastes no more than half of itself.
  std::pair<std::byte *, size_t> find(size_t bytes) {
    std::lock_guard lock(mutex);
    auto it = free.lower_bound(bytes);
    if (it == free.end() || it->first / 2 > std::max(bytes, size_t(4096)))
      return {nullptr, 0};
    std::pair<std::byte *, size_t> found(it->second, it->first);
    freeBytes -= it->first;
    free.erase(it);
    return found;
  }

  void put(std::byte *memory, size_t bytes) {
    {
      std::lock_guard lock(mutex);
      if (freeBytes + bytes <= kMaxShelved && free.size() < kMaxShelvedBlocks) {
        free.emplace(bytes, memory);
        freeBytes += bytes;
        return;
      }
    }
    std::free(memory);
  }
};

MemoryPool::MemoryPool() : shelf(std::make_shared<Shelf>()) {}
MemoryPool::~MemoryPool() = default;

std::shared_ptr<std::byte> MemoryPool::take(size_t bytes) {
  if (bytes > static_cast<size_t>(PTRDIFF_MAX) - kAlignment)
    return nullptr;
  size_t rounded = std::max((bytes + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  auto [memory, capacity] = shelf->find(rounded);
  if (!memory) {
    capacity = rounded;
    memory = allocate(capacity);
  }
  if (!memory)
    return nullptr;
  return {memory, [shelf = shelf, size = capacity](std::byte *block) { shelf->put(block, size); }};
}

} // namespace ingot
