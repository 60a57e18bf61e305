// Whether helpers are worth waiting for.
#pragma once

#include <algorithm>
#include <chrono>

namespace ingot::threads {

/// How many helpers to do without for a while. Somebody else may have the CPU of one: its caller then waits for a time slice, which is
/// longer than most regions, and is done sooner without it. Tried again after pauses that grow while that goes on.
class Patience {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// Threads that take longer than this for their part may have been held up.
  static constexpr std::chrono::milliseconds kLong{1};

  /// What the caller saw of a region: it worked, and then waited for its helpers.
  struct Seen {
    Time started, done, left;
    bool isHeldUp = false; ///< somebody else had the CPU of a helper
  };

  /// Whether there are helpers to do without.
  bool isTried() const { return leftOut > 0; }

  /// How many of `wanted` threads to use now.
  int threads(int wanted, Time now) {
    if (now >= until)
      leftOut = 0;
    return std::max(1, wanted - leftOut);
  }

  /// After a region of `count` threads.
  void judge(const Seen &seen, int count) {
    const auto waited = seen.left - seen.done;
    if (seen.isHeldUp && waited > kLong && waited * 4 > seen.done - seen.started) {
      leftOut = std::min(leftOut + 1, count - 1);
      pause = std::clamp(pause * 2, kShortest, kLongest);
      until = seen.left + pause;
    } else if (pause.count() > 0 && seen.left > until + kForgotten) {
      pause = {};
    }
  }

private:
  static constexpr std::chrono::milliseconds kShortest{2}, kLongest{64}, kForgotten{16};

  int leftOut = 0;
  std::chrono::milliseconds pause{0};
  Time until;
};

} // namespace ingot::threads
