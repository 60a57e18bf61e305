#include "runtime/kernels/gemm/Pairs.h"

#include "runtime/kernels/elementwise/Float16.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cstring>

namespace ingot::gemm {
namespace {

/// Elements that one thread copies sooner than it wakes another.
constexpr int64_t kGrain = 16384;

INGOT_SIMD void joinRows(const float *__restrict even, const float *__restrict odd, uint32_t *__restrict to) {
  for (int64_t j = 0; j < kPanel; ++j)
    to[j] = bits::toBFloat16(even[j]) | static_cast<uint32_t>(bits::toBFloat16(odd[j])) << 16;
}

} // namespace

void pairRows(const float *even, const float *odd, float *to) {
  uint32_t pairs[kPanel];
  joinRows(even, odd, pairs);
  std::memcpy(to, pairs, sizeof(pairs));
}

PairedRows::PairedRows(DType dtype, int64_t rows, int64_t depth, int64_t stride)
    : rows(rows), depth(depth), from(stride), to(pairsOf(depth)), dtype(dtype) {
  if (rows > 1 && areAliased(to))
    to += kApart;
}

void PairedRows::copy(const void *source, float *pairs) const {
  auto *target = reinterpret_cast<uint16_t *>(pairs);
  parallelFor(0, rows, std::max<int64_t>(1, kGrain / depth), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      uint16_t *line = target + 2 * row * to;
      if (dtype == DType::Float32)
        roundToBFloat16(static_cast<const float *>(source) + row * from, line, depth);
      else
        std::copy_n(static_cast<const uint16_t *>(source) + row * from, depth, line);
      if (depth % 2 != 0)
        line[depth] = 0;
    }
  });
}

} // namespace ingot::gemm
