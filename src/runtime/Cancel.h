// Ending calls early: a call looks between its steps whether somebody has asked for it, or its time is over.
#pragma once

#include "base/Result.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <limits>
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

/// Asked by long calls every now and then, on their own threads: whether the call is to end.
using InterruptCheck = int32_t (*)();
void setInterruptCheck(InterruptCheck check);

/// A call of the current thread. Calls from inside a call end with it.
class CancelScope {
public:
  /// `milliseconds` that the call may take; 0: any number.
  explicit CancelScope(const Cancellation &cancellation, uint64_t milliseconds = 0);
  ~CancelScope() { current = outer; }
  CancelScope(const CancelScope &) = delete;
  CancelScope &operator=(const CancelScope &) = delete;

  /// An error when the current thread's call is to end.
  static Status check() {
    for (CancelScope *scope = current; scope; scope = scope->outer) {
      if (scope->cancellation.count() != scope->before)
        return usageError(std::string(kCancelled));
      if (const int64_t now = coarseMilliseconds(); now >= scope->nextLook)
        INGOT_CHECK(scope->look(now));
    }
    return {};
  }

private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  /// A clock that takes a few nanoseconds to read, and moves every few milliseconds.
  static int64_t coarseMilliseconds() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return int64_t(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
  }

  Status look(int64_t now);

  static thread_local CancelScope *current;

  const Cancellation &cancellation;
  uint64_t before;
  CancelScope *outer;
  int64_t begin, deadline, nextLook;
};

} // namespace ingot
