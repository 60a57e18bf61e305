// The memory that a program may take, if its user has set a limit.
#pragma once

#include "base/Result.h"

#include <cstdint>
#include <set>
#include <string>

namespace ingot {

/// Counts what a program holds as long as it lives; what a call needs in addition is checked before the call starts.
class MemoryBudget {
public:
  /// 0: no limit.
  explicit MemoryBudget(uint64_t limit = 0) : limit(limit) {}

  bool isLimited() const { return limit != 0; }
  /// Adds what stays. `owner` makes sure that memory which two functions use counts once.
  void hold(const void *owner, uint64_t bytes);
  /// Whether `further` bytes fit beside what is held; `what` says who needs them.
  Status check(uint64_t further, const std::string &what) const;

private:
  uint64_t limit;
  uint64_t held = 0;
  std::set<const void *> owners;
};

} // namespace ingot
