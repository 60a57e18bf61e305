#include "runtime/MemoryBudget.h"

#include <limits>

namespace ingot {
namespace {

uint64_t saturatedAdd(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max() : a + b;
}

} // namespace

void MemoryBudget::hold(const void *owner, uint64_t bytes) {
  if (isLimited() && owners.insert(owner).second)
    held = saturatedAdd(held, bytes);
}

Status MemoryBudget::check(uint64_t further, const std::string &what) const {
  const uint64_t needed = saturatedAdd(held, further);
  if (!isLimited() || needed <= limit)
    return {};
  return unsupportedError(what + " needs " + std::to_string(needed) + " bytes of memory, the limit is " +
                          std::to_string(limit))
      .note(std::to_string(held) + " bytes are weights, states and prepared constants, " + std::to_string(further) +
            " are intermediate values and outputs");
}

} // namespace ingot
