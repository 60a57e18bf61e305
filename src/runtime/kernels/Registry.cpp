#include "runtime/Kernel.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ingot {

#define KERNEL(name) extern const KernelDef kernelDef_##name;
#include "runtime/kernels/kernels.inc"
#undef KERNEL

namespace {

constexpr size_t kKernelCount = 0
#define KERNEL(name) +1
#include "runtime/kernels/kernels.inc"
#undef KERNEL
    ;

using Table = std::array<const KernelDef *, kKernelCount>;

Table makeTable() {
  Table table = {
#define KERNEL(name) &kernelDef_##name,
#include "runtime/kernels/kernels.inc"
#undef KERNEL
  };
  std::ranges::sort(table, {}, [](const KernelDef *def) { return std::string_view(def->name); });
  return table;
}

const Table &kernelTable() {
  static const Table table = makeTable();
  return table;
}

} // namespace

const KernelDef *findKernel(std::string_view name) {
  const Table &table = kernelTable();
  auto nameOf = [](const KernelDef *def) { return std::string_view(def->name); };
  auto found = std::ranges::lower_bound(table, name, {}, nameOf);
  return found != table.end() && nameOf(*found) == name ? *found : nullptr;
}

std::span<const KernelDef *const> allKernels() { return kernelTable(); }

} // namespace ingot
