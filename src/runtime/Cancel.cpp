#include "runtime/Cancel.h"

#include <algorithm>
#include <string>

namespace ingot {

namespace {

/// Whoever is asked may have to wait for a lock that other threads hold most of the time.
constexpr int64_t kInterruptInterval = 100; // milliseconds

std::atomic<InterruptCheck> interruptCheck = nullptr;

} // namespace

thread_local CancelScope *CancelScope::current = nullptr;

void setInterruptCheck(InterruptCheck check) { interruptCheck = check; }

CancelScope::CancelScope(const Cancellation &cancellation, uint64_t milliseconds)
    : cancellation(cancellation), before(cancellation.count()), outer(current), begin(coarseMilliseconds()),
      deadline(milliseconds < uint64_t(kNever - begin) && milliseconds ? begin + int64_t(milliseconds) : kNever),
      nextLook(std::min(deadline, begin + kInterruptInterval)) {
  current = this;
}

Status CancelScope::look(int64_t now) {
  if (now >= deadline)
    return unsupportedError("the call has taken longer than its time limit of " + std::to_string(deadline - begin) +
                            " ms");
  nextLook = std::min(deadline, now + kInterruptInterval);
  const InterruptCheck check = interruptCheck;
  if (check && check() != 0)
    return usageError(std::string(kCancelled));
  return {};
}

} // namespace ingot
