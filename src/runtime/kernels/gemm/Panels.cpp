#include "runtime/kernels/gemm/Panels.h"

#include "base/MappedFile.h"
#include "runtime/kernels/elementwise/Simd.h"
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
/// Elements of the original that are read before they are given back.
constexpr int64_t kReleased = 1 << 20;
/// Tiles fetch a little of what follows a panel.
constexpr size_t kSlack = 4096;

std::shared_ptr<float> allocate(size_t count) {
  const size_t bytes = count * sizeof(float);
  void *memory = nullptr;
  if (::posix_memalign(&memory, bytes >= kLargePage ? kLargePage : 64, bytes) != 0)
    throw std::bad_alloc();
  // A wish; small pages work too, and are better for the rest, of which a large one would be mostly empty.
  if (bytes >= kLargePage)
    ::madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  return {static_cast<float *>(memory), std::free};
}

/// The offset of row `index`, counted over all dimensions of the depth but the last.
int64_t rowOffset(const PanelSource &source, int64_t index) {
  int64_t offset = 0;
  for (size_t i = source.depthSizes.size() - 1; i-- > 0;) {
    offset += index % source.depthSizes[i] * source.depthStrides[i];
    index /= source.depthSizes[i];
  }
  return offset;
}

/// Strides of a panel's source.
struct Steps {
  int64_t depth, column;
};

INGOT_SIMD void packRows(float *__restrict to, const float *__restrict from, int64_t depth, Steps steps, float factor) {
  if (steps.column == 1) {
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = 0; j < kPanel; ++j)
        to[k * kPanel + j] = from[k * steps.depth + j] * factor;
    return;
  }
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t j = 0; j < kPanel; ++j)
      to[k * kPanel + j] = from[k * steps.depth + j * steps.column] * factor;
}

/// A panel of which some columns are missing.
void packPart(float *to, const float *from, int64_t depth, int64_t count, Steps steps, float factor) {
  for (int64_t k = 0; k < depth; ++k, to += kPanel) {
    for (int64_t j = 0; j < count; ++j)
      to[j] = from[k * steps.depth + j * steps.column] * factor;
    std::fill(to + count, to + kPanel, 0.0f);
  }
}

void packPanel(float *to, const float *from, int64_t depth, int64_t count, Steps steps, float factor) {
  if (count == kPanel)
    packRows(to, from, depth, steps, factor);
  else
    packPart(to, from, depth, count, steps, factor);
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

int64_t PanelSource::reach() const {
  int64_t last = (columns - 1) * columnStride;
  for (size_t i = 0; i < depthSizes.size(); ++i)
    last += (depthSizes[i] - 1) * depthStrides[i];
  return last + 1;
}

int64_t panelElements(int64_t depth, int64_t columns) {
  return PanelView{nullptr, depth, columns}.count() * depth * kPanel + static_cast<int64_t>(kSlack / sizeof(float));
}

void packPanels(float *to, const float *from, int64_t depth, int64_t depthStride, int64_t columns, int64_t columnStride,
                float factor) {
  for (int64_t first = 0; first < columns; first += kPanel, to += depth * kPanel)
    packPanel(to, from + first * columnStride, depth, std::min(kPanel, columns - first), {depthStride, columnStride},
              factor);
}

Panels::Panels(const PanelSource &source) : depth(1), columns(source.columns) {
  for (int64_t size : source.depthSizes)
    depth *= size;
  data = allocate(static_cast<size_t>(panelElements(depth, columns)));
  const int64_t inner = source.depthSizes.back(), count = view().count();
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, depth * kPanel));
  // Columns that lie one after the other are given back as they are read, so that a large weight is never there twice.
  const int64_t panelStride = kPanel * source.columnStride;
  const int64_t step = std::max<int64_t>(1, kReleased / std::max<int64_t>(1, panelStride));
  parallelFor(0, count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      if (source.columnStride == depth && p - begin >= step && (p - begin) % step == 0)
        MappedFile::releasePages(source.data + (p - step) * panelStride,
                                 static_cast<size_t>(step * panelStride) * sizeof(float));
      const float *from = source.data + p * kPanel * source.columnStride;
      for (int64_t row = 0; row < depth; row += inner)
        packPanel(data.get() + (p * depth + row) * kPanel, from + rowOffset(source, row / inner), inner,
                  std::min(kPanel, columns - p * kPanel), {source.depthStrides.back(), source.columnStride}, 1);
    }
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
  // The original is not needed any more, unless somebody looks at it.
  MappedFile::releasePages(source.data, static_cast<size_t>(source.reach()) * sizeof(float));
  all.entries.emplace(source.data, Shared::Entry{source, made});
  return made;
}

} // namespace ingot::gemm
