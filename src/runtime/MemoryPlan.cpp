#include "runtime/MemoryPlan.h"

#include "base/Bytes.h"

#include <algorithm>
#include <numeric>

namespace ingot {
namespace {

struct Placed {
  size_t offset, end;
  int32_t first, last;
};

/// The start of the tightest gap of `bytes` among the buffers alive in [first, last]. `placed` is sorted
/// by offset.
size_t findGap(const std::vector<Placed> &placed, const BufferLife &life, size_t bytes) {
  size_t best = SIZE_MAX;
  size_t bestGap = SIZE_MAX;
  size_t end = 0;
  for (const Placed &other : placed) {
    if (other.last < life.first || life.last < other.first)
      continue;
    if (other.offset > end && other.offset - end >= bytes && other.offset - end < bestGap) {
      best = end;
      bestGap = other.offset - end;
    }
    end = std::max(end, other.end);
  }
  return best == SIZE_MAX ? end : best;
}

Result<size_t> roundUp(size_t bytes) {
  std::optional<size_t> sum = checkedAdd(bytes, kBufferAlignment - 1);
  if (!sum)
    return unsupportedError("the program's intermediate values do not fit into memory");
  return *sum / kBufferAlignment * kBufferAlignment;
}

} // namespace

Result<MemoryPlan> planMemory(std::span<const BufferLife> buffers) {
  MemoryPlan plan;
  plan.offsets.resize(buffers.size());
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return buffers[a].bytes != buffers[b].bytes ? buffers[a].bytes > buffers[b].bytes : a < b;
  });

  std::vector<Placed> placed;
  placed.reserve(buffers.size());
  for (size_t index : order) {
    const BufferLife &life = buffers[index];
    INGOT_TRY(size_t bytes, roundUp(life.bytes));
    std::optional<size_t> total = checkedAdd(plan.totalBytes, bytes);
    // The arena is never larger than the sum, so that checking the sum is enough.
    if (!total || *total > static_cast<size_t>(PTRDIFF_MAX))
      return unsupportedError("the program's intermediate values do not fit into memory");
    plan.totalBytes = *total;
    if (bytes == 0)
      continue;
    size_t offset = findGap(placed, life, bytes);
    plan.offsets[index] = offset;
    plan.arenaBytes = std::max(plan.arenaBytes, offset + bytes);
    Placed entry{offset, offset + bytes, life.first, life.last};
    auto at = std::ranges::upper_bound(placed, offset, {}, &Placed::offset);
    placed.insert(at, entry);
  }
  return plan;
}

} // namespace ingot
