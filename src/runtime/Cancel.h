// Ending calls early: a call looks between its steps whether somebody has asked for it.
#pragma once

#include "base/Result.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace ingot {

/// Counts requests, so that a call sees those that came after it began, and no others.
class Cancellation {
public:
  void request() { ++requests; }
  uint64_t count() const { return requests.load(std::memory_order_relaxed); }

private:
  std::atomic<uint64_t> requests = 0;
};

/// What the message of a cancelled call's error is.
inline constexpr std::string_view kCancelled = "the call was cancelled";

/// A call of the current thread. Calls from inside a call end with it.
class CancelScope {
public:
  explicit CancelScope(const Cancellation &cancellation)
      : cancellation(cancellation), before(cancellation.count()), outer(current) {
    current = this;
  }
  ~CancelScope() { current = outer; }
  CancelScope(const CancelScope &) = delete;
  CancelScope &operator=(const CancelScope &) = delete;

  /// An error when the current thread's call is to end.
  static Status check() {
    for (const CancelScope *scope = current; scope; scope = scope->outer)
      if (scope->cancellation.count() != scope->before)
        return usageError(std::string(kCancelled));
    return {};
  }

private:
  static inline thread_local const CancelScope *current = nullptr;

  const Cancellation &cancellation;
  uint64_t before;
  const CancelScope *outer;
};

} // namespace ingot
