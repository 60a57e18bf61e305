#include "runtime/kernels/view/StridedCopy.h"

#include "runtime/CopyCounter.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

/// Below this many bytes a thread costs more than it saves.
constexpr int64_t kGrainBytes = 128 * 1024;
/// A tile of both sides stays in the first-level cache.
constexpr int64_t kTile = 32;

struct Bytes16 {
  uint64_t low, high;
};

template <typename T> T load(const T *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T> void store(T *to, T value) { std::memcpy(to, &value, sizeof(T)); }

/// Calls fn with a value of an unsigned type of that size.
template <typename Fn> void withElement(size_t bytes, Fn fn) {
  switch (bytes) {
  case 1:
    return fn(uint8_t());
  case 2:
    return fn(uint16_t());
  case 4:
    return fn(uint32_t());
  case 8:
    return fn(uint64_t());
  default:
    return fn(Bytes16());
  }
}

template <typename T> void copyRow(const T *src, T *dst, int64_t count, int64_t srcStride, int64_t dstStride) {
  if (srcStride == 0) {
    T value = load(src);
    for (int64_t i = 0; i < count; ++i)
      store(dst + i * dstStride, value);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    store(dst + i * dstStride, load(src + i * srcStride));
}

/// dst[k * dstStride + b] = src[b * srcStride + k].
template <typename T>
void transposeTile(const T *src, T *dst, int64_t nk, int64_t nb, int64_t srcStride, int64_t dstStride) {
  for (int64_t k = 0; k < nk; ++k)
    for (int64_t b = 0; b < nb; ++b)
      store(dst + k * dstStride + b, load(src + b * srcStride + k));
}

using Vector4 = uint32_t __attribute__((vector_size(16)));

Vector4 loadVector(const uint32_t *from) {
  Vector4 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

void transpose4x4(const uint32_t *src, uint32_t *dst, int64_t srcStride, int64_t dstStride) {
  Vector4 a = loadVector(src);
  Vector4 b = loadVector(src + srcStride);
  Vector4 c = loadVector(src + 2 * srcStride);
  Vector4 d = loadVector(src + 3 * srcStride);
  Vector4 abLow = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  Vector4 abHigh = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  Vector4 cdLow = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  Vector4 cdHigh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  Vector4 rows[4] = {
      __builtin_shufflevector(abLow, cdLow, 0, 1, 4, 5), __builtin_shufflevector(abLow, cdLow, 2, 3, 6, 7),
      __builtin_shufflevector(abHigh, cdHigh, 0, 1, 4, 5), __builtin_shufflevector(abHigh, cdHigh, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i)
    std::memcpy(dst + i * dstStride, &rows[i], sizeof(Vector4));
}

/// Three rows become one: channels of a photo.
INGOT_SIMD void interleaveThree(const uint32_t *__restrict src, uint32_t *__restrict dst, int64_t count,
                                int64_t srcStride) {
  for (int64_t k = 0; k < count; ++k) {
    store(dst + 3 * k, load(src + k));
    store(dst + 3 * k + 1, load(src + srcStride + k));
    store(dst + 3 * k + 2, load(src + 2 * srcStride + k));
  }
}

template <>
void transposeTile(const uint32_t *src, uint32_t *dst, int64_t nk, int64_t nb, int64_t srcStride, int64_t dstStride) {
  if (nb == 3 && dstStride == 3)
    return interleaveThree(src, dst, nk, srcStride);
  int64_t k4 = nk & ~int64_t(3);
  int64_t b4 = nb & ~int64_t(3);
  auto scalar = [&](int64_t kBegin, int64_t kEnd, int64_t bBegin, int64_t bEnd) {
    for (int64_t k = kBegin; k < kEnd; ++k)
      for (int64_t b = bBegin; b < bEnd; ++b)
        store(dst + k * dstStride + b, load(src + b * srcStride + k));
  };
  for (int64_t k = 0; k < k4; k += 4)
    for (int64_t b = 0; b < b4; b += 4)
      transpose4x4(src + b * srcStride + k, dst + k * dstStride + b, srcStride, dstStride);
  scalar(0, k4, b4, nb);
  scalar(k4, nk, 0, nb);
}

} // namespace

StridedCopy::StridedCopy(std::span<const int64_t> sizes, std::span<const int64_t> srcStrides,
                         std::span<const int64_t> dstStrides, size_t elementBytes)
    : mode(Mode::Rows), elementBytes(elementBytes) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      mode = Mode::Nothing;
      return;
    }
    if (sizes[i] != 1)
      dims.push_back({sizes[i], srcStrides[i], dstStrides[i]});
  }
  std::ranges::sort(dims, [](const Dim &a, const Dim &b) { return a.dst != b.dst ? a.dst > b.dst : a.src > b.src; });
  for (const Dim &dim : dims) {
    bool merges = !outer.empty() && outer.back().src == dim.src * dim.size && outer.back().dst == dim.dst * dim.size;
    if (merges)
      outer.back() = {outer.back().size * dim.size, dim.src, dim.dst};
    else
      outer.push_back(dim);
  }
  if (!outer.empty()) {
    inner = outer.back();
    outer.pop_back();
    chooseTranspose();
  }
  for (const Dim &dim : outer)
    outerCount *= dim.size;
}

void StridedCopy::chooseTranspose() {
  if (inner.dst != 1 || inner.src == 1 || inner.src == 0)
    return;
  auto found = std::ranges::find(outer, 1, &Dim::src);
  if (found == outer.end())
    return;
  across = *found;
  outer.erase(found);
  mode = Mode::Transpose;
}

/// Calls visit(source offset, target offset), in elements, for the outer iterations [begin, end).
template <typename Visit> void StridedCopy::forEachOuter(int64_t begin, int64_t end, Visit visit) const {
  std::vector<int64_t> index(outer.size());
  int64_t src = 0;
  int64_t dst = 0;
  int64_t rest = begin;
  for (size_t i = outer.size(); i-- > 0;) {
    index[i] = rest % outer[i].size;
    rest /= outer[i].size;
    src += index[i] * outer[i].src;
    dst += index[i] * outer[i].dst;
  }
  for (int64_t n = begin; n < end; ++n) {
    visit(src, dst);
    for (size_t i = outer.size(); i-- > 0;) {
      src += outer[i].src;
      dst += outer[i].dst;
      if (++index[i] < outer[i].size)
        break;
      src -= outer[i].src * outer[i].size;
      dst -= outer[i].dst * outer[i].size;
      index[i] = 0;
    }
  }
}

void StridedCopy::run(const void *src, void *dst) const {
  const auto *from = static_cast<const std::byte *>(src);
  auto *to = static_cast<std::byte *>(dst);
  if (mode != Mode::Nothing)
    countCopied(static_cast<size_t>(outerCount * across.size * inner.size) * elementBytes);
  if (mode == Mode::Rows)
    runRows(from, to);
  else if (mode == Mode::Transpose)
    runTranspose(from, to);
}

void StridedCopy::runRows(const std::byte *src, std::byte *dst) const {
  auto bytes = static_cast<int64_t>(elementBytes);
  bool isPlain = inner.src == 1 && inner.dst == 1;
  auto copyPart = [&](int64_t srcAt, int64_t dstAt, int64_t count) {
    const std::byte *from = src + srcAt * bytes;
    std::byte *to = dst + dstAt * bytes;
    if (isPlain || count == 1)
      std::memcpy(to, from, static_cast<size_t>(count * bytes));
    else
      withElement(elementBytes, [&](auto element) {
        using T = decltype(element);
        copyRow(reinterpret_cast<const T *>(from), reinterpret_cast<T *>(to), count, inner.src, inner.dst);
      });
  };
  if (outerCount == 1) {
    parallelFor(0, inner.size, kGrainBytes / bytes,
                [&](int64_t begin, int64_t end) { copyPart(begin * inner.src, begin * inner.dst, end - begin); });
    return;
  }
  int64_t grain = std::max<int64_t>(1, kGrainBytes / (inner.size * bytes));
  parallelFor(0, outerCount, grain, [&](int64_t begin, int64_t end) {
    forEachOuter(begin, end, [&](int64_t srcAt, int64_t dstAt) { copyPart(srcAt, dstAt, inner.size); });
  });
}

void StridedCopy::runTranspose(const std::byte *src, std::byte *dst) const {
  auto bytes = static_cast<int64_t>(elementBytes);
  // Few elements a row (channels of an image): longer strips keep the number of tiles low.
  int64_t stripLength = inner.size >= kTile ? kTile : std::max(kTile, kTile * kTile / inner.size);
  int64_t strips = (across.size - 1) / stripLength + 1;
  auto copyStrip = [&](int64_t strip, int64_t srcAt, int64_t dstAt) {
    int64_t k = strip * stripLength;
    int64_t nk = std::min(stripLength, across.size - k);
    withElement(elementBytes, [&](auto element) {
      using T = decltype(element);
      const T *from = reinterpret_cast<const T *>(src) + srcAt + k;
      T *to = reinterpret_cast<T *>(dst) + dstAt + k * across.dst;
      for (int64_t b = 0; b < inner.size; b += kTile)
        transposeTile(from + b * inner.src, to + b, nk, std::min(kTile, inner.size - b), inner.src, across.dst);
    });
  };
  int64_t grain = std::max<int64_t>(1, kGrainBytes / (inner.size * stripLength * bytes));
  parallelFor(0, outerCount * strips, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      int64_t plane = begin / strips;
      int64_t last = std::min(end, (plane + 1) * strips);
      forEachOuter(plane, plane + 1, [&](int64_t srcAt, int64_t dstAt) {
        for (int64_t strip = begin - plane * strips; strip < last - plane * strips; ++strip)
          copyStrip(strip, srcAt, dstAt);
      });
      begin = last;
    }
  });
}

} // namespace ingot
