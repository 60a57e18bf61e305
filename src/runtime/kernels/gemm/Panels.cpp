#include "runtime/kernels/gemm/Panels.h"

#include "base/ForkSafeMutex.h"
#include "base/MappedFile.h"
#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/elementwise/Widened.h"
#include "runtime/kernels/gemm/Pairs.h"
#include "runtime/kernels/gemm/Quads.h"
#include "runtime/kernels/gemm/SharedByAddress.h"
#include "runtime/kernels/norm/Rows.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
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

std::shared_ptr<std::byte> allocateLarge(size_t bytes) {
  void *memory = nullptr;
  if (::posix_memalign(&memory, kLargePage, bytes) != 0)
    throw std::bad_alloc();
  // A wish; small pages work too, and are better for the rest, of which a large one would be mostly empty.
  ::madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  return {static_cast<std::byte *>(memory), std::free};
}

/// Panels that are smaller than large pages share them. A slab is freed with the last panels in it.
class Slabs {
public:
  std::shared_ptr<float> take(size_t count) {
    const size_t bytes = (count * sizeof(float) + kLine - 1) / kLine * kLine;
    if (bytes >= kLargePage) {
      std::shared_ptr<std::byte> own = allocateLarge(bytes);
      return {own, reinterpret_cast<float *>(own.get())};
    }
    std::lock_guard lock(mutex);
    if (!slab || bytes > kSlab - used) {
      slab = allocateLarge(kSlab);
      used = 0;
    }
    auto *start = reinterpret_cast<float *>(slab.get() + used);
    used += bytes;
    return {slab, start};
  }

private:
  static constexpr size_t kLine = 64, kSlab = 4 * kLargePage;

  ForkSafeMutex mutex;
  std::shared_ptr<std::byte> slab;
  size_t used = 0;
};

std::shared_ptr<float> allocate(size_t count) {
  static auto *slabs = new Slabs; // outlives kernels that static objects own
  return slabs->take(count);
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

/// For every element of a dense column its row in the panel; nothing if columns are not dense.
std::vector<int64_t> denseOrder(const PanelSource &source, int64_t depth) {
  if (source.columnStride != depth)
    return {};
  std::vector<int64_t> order(static_cast<size_t>(depth), -1);
  const int64_t inner = source.depthSizes.back();
  for (int64_t row = 0; row < depth; ++row) {
    const int64_t offset = rowOffset(source, row / inner) + row % inner * source.depthStrides.back();
    if (offset < 0 || offset >= depth || order[static_cast<size_t>(offset)] >= 0)
      return {};
    order[static_cast<size_t>(offset)] = row;
  }
  return order;
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

#if defined(__x86_64__)
/// Sixteen rows of sixteen become columns: pairs of rows are mixed, then pairs of pairs.
INGOT_AVX512_INLINE void transpose16(__m512 (&a)[16]) {
  __m512 b[16];
#pragma unroll
  for (int i = 0; i < 16; i += 2) {
    b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
  }
#pragma unroll
  for (int i = 0; i < 16; i += 4) {
    a[i] = _mm512_shuffle_ps(b[i], b[i + 2], 0x44);
    a[i + 1] = _mm512_shuffle_ps(b[i], b[i + 2], 0xee);
    a[i + 2] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0x44);
    a[i + 3] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0xee);
  }
  // a[4 i + j] has column j of every quarter, of rows 4 i to 4 i + 3.
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    b[j] = _mm512_shuffle_f32x4(a[j], a[j + 4], 0x88);
    b[j + 4] = _mm512_shuffle_f32x4(a[j], a[j + 4], 0xdd);
    b[j + 8] = _mm512_shuffle_f32x4(a[j + 8], a[j + 12], 0x88);
    b[j + 12] = _mm512_shuffle_f32x4(a[j + 8], a[j + 12], 0xdd);
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    a[j] = _mm512_shuffle_f32x4(b[j], b[j + 8], 0x88);
    a[j + 4] = _mm512_shuffle_f32x4(b[j + 4], b[j + 12], 0x88);
    a[j + 8] = _mm512_shuffle_f32x4(b[j], b[j + 8], 0xdd);
    a[j + 12] = _mm512_shuffle_f32x4(b[j + 4], b[j + 12], 0xdd);
  }
}

/// As many steps as can be done at once of columns that are dense, `stride` apart; returns how many. Step k of the source
/// becomes row order[k] of the panel; without an order row k.
INGOT_AVX512 int64_t packTransposed(float *to, const float *from, int64_t depth, int64_t stride, const int64_t *order,
                                    float factor) {
  const __m512 scale = _mm512_set1_ps(factor);
  int64_t k = 0;
  for (; k + 16 <= depth; k += 16)
    for (int64_t half = 0; half < kPanel; half += 16) {
      __m512 block[16];
#pragma unroll
      for (int i = 0; i < 16; ++i)
        block[i] = _mm512_loadu_ps(from + (half + i) * stride + k);
      transpose16(block);
#pragma unroll
      for (int i = 0; i < 16; ++i)
        _mm512_storeu_ps(to + (order ? order[k + i] : k + i) * kPanel + half, _mm512_mul_ps(block[i], scale));
    }
  return k;
}

/// A whole panel of dense columns; false where this CPU cannot.
bool packOrdered(float *to, const float *from, int64_t stride, std::span<const int64_t> order) {
  if (order.empty() || !avx512::isThere())
    return false;
  const auto depth = static_cast<int64_t>(order.size());
  for (int64_t k = packTransposed(to, from, depth, stride, order.data(), 1); k < depth; ++k)
    for (int64_t j = 0; j < kPanel; ++j)
      to[order[static_cast<size_t>(k)] * kPanel + j] = from[j * stride + k];
  return true;
}
#else
bool packOrdered(float *, const float *, int64_t, std::span<const int64_t>) { return false; }
#endif

/// A panel of which some columns are missing.
void packPart(float *to, const float *from, int64_t depth, int64_t count, Steps steps, float factor) {
  for (int64_t k = 0; k < depth; ++k, to += kPanel) {
    for (int64_t j = 0; j < count; ++j)
      to[j] = from[k * steps.depth + j * steps.column] * factor;
    std::fill(to + count, to + kPanel, 0.0f);
  }
}

void packPanel(float *to, const float *from, int64_t depth, int64_t count, Steps steps, float factor) {
  if (count < kPanel)
    return packPart(to, from, depth, count, steps, factor);
  int64_t done = 0;
#if defined(__x86_64__)
  if (steps.depth == 1 && avx512::isThere())
    done = packTransposed(to, from, depth, steps.column, nullptr, factor);
#endif
  packRows(to + done * kPanel, from + done * steps.depth, depth - done, steps, factor);
}

using Columns = float[kPanel];

/// Three values of each column become four.
__attribute__((always_inline)) inline void spreadFilter(const Columns &a, const Columns &b, const Columns &c,
                                                        Columns *to, int64_t stride) {
  for (int64_t j = 0; j < kPanel; ++j) {
    const float ends = 0.5f * (a[j] + c[j]), middle = 0.5f * b[j];
    to[0][j] = a[j];
    to[stride][j] = ends + middle;
    to[2 * stride][j] = ends - middle;
    to[3 * stride][j] = c[j];
  }
}

/// Filters of one channel: [3][3] to [4][4].
INGOT_SIMD void transformFilters(const Columns *filters, Columns *to) {
  Columns rows[4][3];
  for (int64_t x = 0; x < 3; ++x)
    spreadFilter(filters[x], filters[3 + x], filters[6 + x], &rows[0][x], 3);
  for (int64_t y = 0; y < 4; ++y)
    spreadFilter(rows[y][0], rows[y][1], rows[y][2], to + 4 * y, 1);
}

/// A panel of transformed filters: [16][channels][32].
void packTransformed(float *to, const PanelSource &source, int64_t panel) {
  const int64_t channels = source.depthSizes[2], count = std::min(kPanel, source.columns - panel * kPanel);
  Columns filters[9] = {}, transformed[16];
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < 9; ++tap) {
      const float *from = static_cast<const float *>(source.data) + panel * kPanel * source.columnStride +
                          tap / 3 * source.depthStrides[0] + tap % 3 * source.depthStrides[1] +
                          c * source.depthStrides[2];
      for (int64_t j = 0; j < count; ++j)
        filters[tap][j] = from[j * source.columnStride];
    }
    transformFilters(filters, transformed);
    for (int64_t point = 0; point < 16; ++point)
      std::copy_n(transformed[point], kPanel, to + (point * channels + c) * kPanel);
  }
}

/// A panel of float16 or bfloat16.
void packHalves(float *to, const PanelSource &source, int64_t panel) {
  const auto *start = static_cast<const uint16_t *>(source.data) + panel * kPanel * source.columnStride;
  const int64_t inner = source.depthSizes.back(), count = std::min(kPanel, source.columns - panel * kPanel);
  const int64_t step = source.depthStrides.back();
  std::vector<uint16_t> column(static_cast<size_t>(inner));
  std::vector<float> wide(column.size());
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < source.depthSizes.size(); ++i)
    rows *= source.depthSizes[i];
  for (int64_t row = 0; row < rows; ++row, to += inner * kPanel)
    for (int64_t j = 0; j < kPanel; ++j) {
      const uint16_t *from = start + rowOffset(source, row) + j * source.columnStride;
      for (int64_t k = 0; k < inner; ++k)
        column[static_cast<size_t>(k)] = j < count ? from[k * step] : 0;
      widenHere(source.dtype, column.data(), wide.data(), inner);
      for (int64_t k = 0; k < inner; ++k)
        to[k * kPanel + j] = wide[static_cast<size_t>(k)];
    }
}

/// Rows of a panel before pairs or quads are made of them.
int64_t plainDepth(const PanelSource &source) {
  if (source.isTransformed)
    return 16 * source.depthSizes[2];
  int64_t depth = 1;
  for (int64_t size : source.depthSizes)
    depth *= size;
  return depth;
}

/// Makes panels of float32, whatever the source is.
struct Packer {
  const PanelSource &source;
  int64_t depth;
  std::vector<int64_t> order;

  explicit Packer(const PanelSource &source) : source(source), depth(plainDepth(source)) {
    order = denseOrder(source, depth);
  }

  void pack(float *to, int64_t panel) const {
    if (source.dtype != DType::Float32)
      return packHalves(to, source, panel);
    if (source.isTransformed)
      return packTransformed(to, source, panel);
    const float *from = static_cast<const float *>(source.data) + panel * kPanel * source.columnStride;
    const int64_t count = std::min(kPanel, source.columns - panel * kPanel), inner = source.depthSizes.back();
    if (count == kPanel && packOrdered(to, from, source.columnStride, order))
      return;
    for (int64_t row = 0; row < depth; row += inner)
      packPanel(to + row * kPanel, from + rowOffset(source, row / inner), inner, count,
                {source.depthStrides.back(), source.columnStride}, 1);
  }
};

size_t bytesOfBlock(int64_t depth, int64_t columns, Packing packing) {
  const int64_t rounded = PanelView{nullptr, depth, columns}.count() * kPanel;
  const int64_t elements = panelElements(depth, columns) + (packing == Packing::Quads ? 2 * rounded : 0);
  return static_cast<size_t>(elements) * sizeof(float);
}

void pairPanel(float *to, const float *from, int64_t depth) {
  static constexpr float zeros[kPanel] = {};
  for (int64_t k = 0; k < depth; k += 2, to += kPanel)
    pairRows(from + k * kPanel, k + 1 < depth ? from + (k + 1) * kPanel : zeros, to);
}

SharedByAddress<PanelSource, const Panels> &shared() {
  static auto *instance = new SharedByAddress<PanelSource, const Panels>; // outlives kernels that static objects own
  return *instance;
}

} // namespace

int64_t PanelSource::reach() const {
  int64_t last = (columns - 1) * columnStride;
  for (size_t i = 0; i < depthSizes.size(); ++i)
    last += (depthSizes[i] - 1) * depthStrides[i];
  return last + 1;
}

int64_t PanelSource::packedDepth() const {
  const int64_t depth = plainDepth(*this);
  switch (packing) {
  case Packing::Pairs:
    return pairsOf(depth);
  case Packing::Quads:
    return quadsOf(depth);
  case Packing::Single:
    break;
  }
  return depth;
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

Panels::Panels(const PanelSource &source)
    : depth(source.packedDepth()), columns(source.columns), packing(source.packing) {
  std::shared_ptr<float> made = allocate(blockBytes() / sizeof(float));
  data = made;
  pack(source, made.get());
}

Panels::Panels(const PanelSource &source, const std::shared_ptr<PanelFile> &file, const std::byte *block, bool isFinite)
    : depth(source.packedDepth()), columns(source.columns), packing(source.packing),
      data(file, reinterpret_cast<const float *>(block)),
      mapped(std::make_unique<MappedBlock>(file, std::span(block, blockBytes()))), hasNumbersOnly(isFinite) {}

size_t Panels::blockBytes() const { return bytesOfBlock(depth, columns, packing); }

size_t blockBytesOf(const PanelSource &source) {
  return bytesOfBlock(source.packedDepth(), source.columns, source.packing);
}

PanelView Panels::view() const {
  PanelView view{data.get(), depth, columns, packing};
  if (packing == Packing::Quads) {
    view.scales = data.get() + panelElements(depth, columns);
    view.sums = reinterpret_cast<const int32_t *>(view.scales + view.count() * kPanel);
  }
  return view;
}

void Panels::pack(const PanelSource &source, float *block) {
  const Packer packer(source);
  const bool isPacked = packing != Packing::Single;
  const int64_t count = view().count();
  float *scales = block + panelElements(depth, columns);
  auto *sums = reinterpret_cast<int32_t *>(scales + count * kPanel);
  std::fill(block + count * depth * kPanel, scales, 0.0f);
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, depth * kPanel));
  // Columns that lie one after the other are given back as they are read, so that a large weight is never there twice.
  const int64_t panelStride = kPanel * source.columnStride;
  const size_t elementBytes = byteSize(source.dtype);
  const int64_t step = std::max<int64_t>(1, kReleased / std::max<int64_t>(1, panelStride));
  std::atomic<bool> areNumbers = true;
  parallelFor(0, count, grain, [&](int64_t begin, int64_t end) {
    std::vector<float> unpacked(isPacked ? static_cast<size_t>(packer.depth * kPanel) : 0);
    for (int64_t p = begin; p < end; ++p) {
      if (source.columnStride == packer.depth && p - begin >= step && (p - begin) % step == 0)
        MappedFile::releasePages(static_cast<const std::byte *>(source.data) +
                                     static_cast<size_t>((p - step) * panelStride) * elementBytes,
                                 static_cast<size_t>(step * panelStride) * elementBytes);
      float *panel = block + p * depth * kPanel, *plain = isPacked ? unpacked.data() : panel;
      packer.pack(plain, p);
      if (!rows::isFinite(plain, packer.depth * kPanel))
        areNumbers = false;
      if (packing == Packing::Pairs)
        pairPanel(panel, plain, packer.depth);
      else if (packing == Packing::Quads)
        quadPanel(panel, plain, packer.depth, scales + p * kPanel, sums + p * kPanel);
    }
  });
  hasNumbersOnly = areNumbers;
}

std::shared_ptr<const Panels> sharedPanels(const PanelSource &source) {
  if (std::shared_ptr<const Panels> found = shared().find(source.data, source))
    return found;
  auto made = std::make_shared<const Panels>(source);
  // The original is not needed any more, unless somebody looks at it.
  MappedFile::releasePages(source.data, static_cast<size_t>(source.reach()) * byteSize(source.dtype));
  return shared().add(source.data, source, std::move(made));
}

void offerPanels(const PanelSource &source, const std::shared_ptr<const Panels> &panels) {
  shared().add(source.data, source, panels);
}

std::vector<PanelsInUse> panelsMadeFrom(std::span<const std::byte> memory) {
  std::vector<PanelsInUse> found;
  shared().visit(memory.data(), memory.data() + memory.size(),
                 [&](const PanelSource &source, std::shared_ptr<const Panels> panels) {
                   found.push_back({source, std::move(panels)});
                 });
  return found;
}

} // namespace ingot::gemm
