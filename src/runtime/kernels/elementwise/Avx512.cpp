#include "runtime/kernels/elementwise/Avx512.h"

#include <cstdlib>
#include <string_view>

namespace ingot::avx512 {

bool isThere() {
#if defined(__x86_64__)
  static const bool is = [] {
    const char *setting = std::getenv("INGOT_AVX512");
    const bool isAllowed = !setting || std::string_view(setting) != "0";
    return isAllowed && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  }();
  return is;
#else
  return false;
#endif
}

} // namespace ingot::avx512
