#include "runtime/kernels/gemm/Quads.h"

#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace ingot::gemm {
namespace {

/// Elements that one thread copies sooner than it wakes another.
constexpr int64_t kGrain = 16384;
/// The largest integers of rows and of columns.
constexpr float kMostOfRow = 255, kMostOfColumn = 127;
/// Smaller elements are zeros: what they would be multiplied by leaves the range of float32.
constexpr float kSmallest = 1e-30f;

float magnitude(uint32_t bits) { return std::bit_cast<float>(bits); }

float columnScale(uint32_t largest) {
  if (!std::isfinite(magnitude(largest)))
    return std::numeric_limits<float>::quiet_NaN();
  return magnitude(largest) < kSmallest ? 0 : magnitude(largest) / kMostOfColumn;
}

INGOT_SIMD void findLargest(const float *__restrict panel, int64_t depth, uint32_t *__restrict largest) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t j = 0; j < kPanel; ++j)
      largest[j] = std::max(largest[j], std::bit_cast<uint32_t>(panel[k * kPanel + j]) & 0x7FFFFFFFU);
}

/// Four rows of 32 floats become one of quads. What is not a number comes from columns whose scale is NaN.
INGOT_SIMD void joinRows(const std::array<const float *, 4> &rows, const float *__restrict inverse,
                         uint32_t *__restrict to, int32_t *__restrict sums) {
  for (int64_t j = 0; j < kPanel; ++j) {
    uint32_t quad = 0;
    for (size_t i = 0; i < 4; ++i) {
      const float scaled = rows[i][j] * inverse[j];
      const auto rounded = static_cast<int32_t>(scaled == scaled ? std::nearbyint(scaled) : 0.0f);
      quad |= (static_cast<uint32_t>(rounded) & 0xFFU) << (8 * i);
      sums[j] += rounded;
    }
    to[j] = quad;
  }
}

} // namespace

QuadScale QuadScale::of(QuadRange range) {
  const float above = magnitude(range.above), below = magnitude(range.below);
  if (!std::isfinite(above) || !std::isfinite(below))
    return {std::numeric_limits<float>::quiet_NaN(), 0};
  const float scale = above / kMostOfRow + below / kMostOfRow;
  if (scale < kSmallest)
    return {};
  return {scale, static_cast<int32_t>(std::nearbyint(below / scale))};
}

void quadPanel(float *to, const float *panel, int64_t depth, float *scales, int32_t *sums) {
  static constexpr float zeros[kPanel] = {};
  uint32_t largest[kPanel] = {};
  findLargest(panel, depth, largest);
  float inverse[kPanel];
  for (int64_t j = 0; j < kPanel; ++j) {
    scales[j] = columnScale(largest[j]);
    inverse[j] = QuadScale{scales[j]}.inverse();
    sums[j] = 0;
  }
  for (int64_t k = 0; k < depth; k += 4, to += kPanel) {
    std::array<const float *, 4> rows;
    for (int64_t i = 0; i < 4; ++i)
      rows[static_cast<size_t>(i)] = k + i < depth ? panel + (k + i) * kPanel : zeros;
    uint32_t quads[kPanel];
    joinRows(rows, inverse, quads, sums);
    std::memcpy(to, quads, sizeof(quads));
  }
}

QuadRows::QuadRows(int64_t rows, int64_t depth, int64_t stride)
    : rows(rows), depth(depth), from(stride), to(quadsOf(depth)) {
  if (rows > 1 && areAliased(to))
    to += kApart;
}

void QuadRows::copy(const float *source, float *quads) const {
  float *scales = quads + rows * to;
  auto *zeros = reinterpret_cast<int32_t *>(scales + rows);
  parallelFor(0, rows, std::max<int64_t>(1, kGrain / depth), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float *line = source + row * from;
      auto *bytes = reinterpret_cast<uint8_t *>(quads + row * to);
      const QuadScale scale = QuadScale::of(QuadRange::of(line, depth));
      roundToQuads(line, bytes, depth, scale);
      std::fill(bytes + depth, bytes + 4 * quadsOf(depth), uint8_t(0)); // the panel has zeros there
      scales[row] = scale.scale;
      zeros[row] = scale.zero;
    }
  });
}

} // namespace ingot::gemm
