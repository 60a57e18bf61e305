#include "runtime/kernels/gemm/Panels.h"

#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>

namespace ingot::gemm {
namespace {

/// Large pages, so that streaming through weights does not wait for address translation.
constexpr size_t kLargePage = size_t(2) << 20;
/// Tiles fetch a little of what follows a panel.
constexpr size_t kSlack = 4096;

std::shared_ptr<float> allocate(size_t count) {
  const size_t alignment = count * sizeof(float) >= kLargePage ? kLargePage : 64;
  const size_t bytes = (count * sizeof(float) + kSlack + alignment - 1) / alignment * alignment;
  auto *memory = static_cast<float *>(std::aligned_alloc(alignment, bytes));
  if (!memory)
    throw std::bad_alloc();
  if (alignment == kLargePage)
    madvise(memory, bytes, MADV_HUGEPAGE); // a wish; small pages work too
  return {memory, std::free};
}

/// The offset of row `index`, counted over all dimensions of the depth.
int64_t rowOffset(const PanelSource &source, int64_t index) {
  int64_t offset = 0;
  for (size_t i = source.depthSizes.size(); i-- > 0;) {
    offset += index % source.depthSizes[i] * source.depthStrides[i];
    index /= source.depthSizes[i];
  }
  return offset;
}

void packPanel(const PanelSource &source, const std::vector<int64_t> &offsets, int64_t panel, float *to) {
  const float *from = source.data + panel * kPanel * source.columnStride;
  const int64_t count = std::min(kPanel, source.columns - panel * kPanel);
  for (int64_t offset : offsets) {
    for (int64_t j = 0; j < count; ++j)
      to[j] = from[offset + j * source.columnStride];
    std::fill(to + count, to + kPanel, 0.0f);
    to += kPanel;
  }
}

struct Shared {
  struct Entry {
    PanelSource source;
    std::weak_ptr<const Panels> panels;
  };
  std::mutex mutex;
  std::multimap<const float *, Entry> entries;
};

Shared &shared() {
  static auto *instance = new Shared; // outlives kernels that static objects own
  return *instance;
}

} // namespace

Panels::Panels(const PanelSource &source) : rows(1), width(source.columns) {
  for (int64_t size : source.depthSizes)
    rows *= size;
  data = allocate(static_cast<size_t>(count() * rows * kPanel));
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(rows));
  for (int64_t k = 0; k < rows; ++k)
    offsets.push_back(rowOffset(source, k));
  parallelFor(0, count(), std::max<int64_t>(1, 16384 / std::max<int64_t>(1, rows * kPanel)),
              [&](int64_t begin, int64_t end) {
                for (int64_t p = begin; p < end; ++p)
                  packPanel(source, offsets, p, data.get() + p * rows * kPanel);
              });
}

std::shared_ptr<const Panels> sharedPanels(const PanelSource &source) {
  Shared &all = shared();
  std::lock_guard lock(all.mutex);
  auto [begin, end] = all.entries.equal_range(source.data);
  for (auto it = begin; it != end;) {
    std::shared_ptr<const Panels> found = it->second.panels.lock();
    if (found && it->second.source == source)
      return found;
    it = found ? std::next(it) : all.entries.erase(it);
  }
  auto made = std::make_shared<const Panels>(source);
  all.entries.emplace(source.data, Shared::Entry{source, made});
  return made;
}

} // namespace ingot::gemm
