#include "threads/Team.h"
#include "threads/Invalid.h"
#include "threads/Patience.h"

#include <atomic>
#include <gtest/gtest.h>
#include <limits>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" bool INGO_loop_static_start(long start, long end, long increment, long chunk, long *first, long *last);
extern "C" bool INGO_loop_static_next(long *first, long *last);

namespace ingot::threads {
namespace {

template <typename F> void runTeam(int count, F &&work) {
  run([](void *data) { (*static_cast<std::remove_reference_t<F> *>(data))(); }, &work, count);
}

TEST(Team, EveryThreadRunsOnce) {
  for (int wanted : {1, 2, 3, 8, 2, 5})
    for (int round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(wanted));
      runTeam(wanted, [&] {
        EXPECT_EQ(count(), wanted);
        ++seen[static_cast<size_t>(number())];
      });
      for (const std::atomic<int> &times : seen)
        ASSERT_EQ(times, 1);
    }
  EXPECT_EQ(count(), 1);
  EXPECT_FALSE(isParallel());
}

TEST(Team, FlagsOfHelpersAreRaisedInTheCaller) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "flags are not read on this CPU";
#endif
  volatile float infinity = std::numeric_limits<float>::infinity(), difference = 0;
  for (int raiser : {-1, 0, 1, 2}) {
    clearInvalid();
    runTeam(3, [&] {
      if (number() == raiser)
        difference = infinity - infinity;
    });
    EXPECT_EQ(isInvalid(), raiser >= 0);
  }
  clearInvalid();
}

TEST(Patience, HelpersThatAreHeldUpAreLeftOutForAWhile) {
  using std::chrono::milliseconds;
  Patience patience;
  Patience::Time now{};
  auto region = [&](int worked, int waited, bool isHeldUp) {
    const Patience::Time started = now, done = started + milliseconds(worked);
    now = done + milliseconds(waited);
    patience.judge({started, done, now, isHeldUp}, 3);
  };
  region(1, 3, false); // a slow helper, or a hypervisor that has other guests
  region(20, 3, true); // not worth it: much was done in the meantime
  EXPECT_FALSE(patience.isTried());
  region(1, 3, true);
  EXPECT_TRUE(patience.isTried());
  EXPECT_EQ(patience.threads(3, now), 2);
  region(1, 3, true);
  region(1, 3, true);
  EXPECT_EQ(patience.threads(3, now), 1);
  EXPECT_EQ(patience.threads(3, now + milliseconds(7)), 1); // after 2 and 4 come 8 milliseconds
  EXPECT_EQ(patience.threads(3, now + milliseconds(8)), 3);
  EXPECT_FALSE(patience.isTried());
  now += milliseconds(100);
  region(1, 0, false); // all is well again
  region(1, 3, true);
  EXPECT_EQ(patience.threads(3, now + milliseconds(2)), 3);
}

TEST(Team, InnerRegionsRunAlone) {
  std::atomic<int> inner = 0;
  runTeam(3, [&] {
    const int self = number();
    runTeam(4, [&] {
      EXPECT_EQ(count(), 1);
      EXPECT_EQ(number(), 0);
      ++inner;
    });
    EXPECT_EQ(number(), self);
    EXPECT_EQ(count(), 3);
  });
  EXPECT_EQ(inner, 3);
}

TEST(Team, BarriersHoldEverybody) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> arrived = 0;
    runTeam(4, [&] {
      for (int phase = 1; phase <= 5; ++phase) {
        ++arrived;
        barrier();
        EXPECT_EQ(arrived, 4 * phase);
        barrier();
      }
    });
  }
}

TEST(Team, CallersHaveHelpersOfTheirOwn) {
  std::atomic<int> total = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round)
        runTeam(3, [&] {
          barrier(); // deadlocks unless all three run at once
          ++total;
        });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 16 * 100 * 3);
}

TEST(Team, SleepingHelpersWakeUp) {
  std::atomic<int> total = 0;
  for (int round = 0; round < 20; ++round) {
    runTeam(2, [&] { ++total; });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(total, 40);
}

TEST(Team, ChildProcessesGetNewHelpers) {
  std::atomic<int> total = 0;
  runTeam(3, [&] { ++total; });
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> here = 0;
    runTeam(3, [&] {
      barrier();
      ++here;
    });
    _exit(here == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  runTeam(3, [&] { ++total; });
  EXPECT_EQ(total, 6);
}

/// Every iteration is somebody's, once.
void expectLoop(long start, long end, long increment, long chunk) {
  std::vector<std::atomic<int>> seen(100);
  runTeam(3, [&] {
    long first = 0, last = 0;
    for (bool more = INGO_loop_static_start(start, end, increment, chunk, &first, &last); more;
         more = INGO_loop_static_next(&first, &last))
      for (long i = first; increment > 0 ? i < last : i > last; i += increment)
        ++seen[static_cast<size_t>(i)];
  });
  for (long i = 0; i < 100; ++i) {
    const bool isIn = increment > 0 ? i >= start && i < end && (i - start) % increment == 0
                                    : i <= start && i > end && (start - i) % -increment == 0;
    EXPECT_EQ(seen[static_cast<size_t>(i)], isIn ? 1 : 0) << i << " of " << start << ", " << end << ", " << increment;
  }
}

TEST(Team, LoopsAreShared) {
  for (long chunk : {0, 1, 7}) {
    expectLoop(0, 100, 1, chunk);
    expectLoop(3, 90, 4, chunk);
    expectLoop(90, 3, -4, chunk);
    expectLoop(5, 5, 1, chunk);
    expectLoop(0, 2, 1, chunk);
  }
}

TEST(Team, WhatLibrariesMayUse) {
  allow(3);
  EXPECT_EQ(allowed(), 3);
  std::thread([] { EXPECT_GE(allowed(), 1); }).join();
  allow(0);
  EXPECT_GE(allowed(), 1);
}

} // namespace
} // namespace ingot::threads
