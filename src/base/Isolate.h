// Work on bytes that nobody trusts, in a process of its own: if it falls, only that process does.
#pragma once

#include "base/Result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ingot {

/// What a child may take; more ends it.
struct IsolationLimits {
  uint64_t seconds = 0; ///< of the processor
  uint64_t bytes = 0;   ///< of memory, beside what the process has already
};

/// Runs `work` in a child of this process and returns its result, or its error. A child that falls, or takes too much, is
/// a Corrupt error that begins with `failure`; one that somebody interrupts or kills is an Io error. INGOT_ISOLATE=0 in
/// the environment runs `work` in this process instead, for debuggers.
Result<std::vector<std::string>> runIsolated(const std::string &failure, const IsolationLimits &limits,
                                             const std::function<Result<std::vector<std::string>>()> &work);

/// A part of isolated work that may take less memory than the rest: `bytes` beside what the process has. Does nothing in
/// the caller's process.
class [[nodiscard]] TighterMemory {
public:
  explicit TighterMemory(uint64_t bytes);
  ~TighterMemory();
  TighterMemory(const TighterMemory &) = delete;
  TighterMemory &operator=(const TighterMemory &) = delete;

private:
  uint64_t before = 0; ///< 0: nothing was changed
};

/// Held by work of the same libraries in this process: a child must not be made while one of their locks is taken. Where
/// such work calls back, the callback may hold it again, and may run isolated work: then it holds none of these locks.
class [[nodiscard]] IsolationHold {
public:
  IsolationHold();
  ~IsolationHold();
  IsolationHold(const IsolationHold &) = delete;
  IsolationHold &operator=(const IsolationHold &) = delete;
};

} // namespace ingot
