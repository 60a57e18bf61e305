// While one lives, this thread reads and writes subnormal numbers as zeros. A CPU takes a hundred times as long for them, and in
// a sum of products they are far below every rounding error.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ingot::gemm {

#if defined(__x86_64__)

class NoSubnormals {
public:
  NoSubnormals() : before(_mm_getcsr()) {
    if ((before & kBoth) != kBoth)
      _mm_setcsr(before | kBoth);
  }
  /// Flags that were raised meanwhile stay.
  ~NoSubnormals() {
    if ((before & kBoth) != kBoth)
      _mm_setcsr((_mm_getcsr() & ~kBoth) | (before & kBoth));
  }
  NoSubnormals(const NoSubnormals &) = delete;
  NoSubnormals &operator=(const NoSubnormals &) = delete;

private:
  /// Results flushed to zero; operands that are subnormal taken as zero.
  static constexpr unsigned kBoth = 0x8000 | 0x0040;
  unsigned before;
};

#else

struct NoSubnormals {};

#endif

} // namespace ingot::gemm
