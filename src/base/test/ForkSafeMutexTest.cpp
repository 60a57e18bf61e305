#include "base/ForkSafeMutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ingot::test {
namespace {

/// What a child that is made now exits with: 0 if it can take both.
int childsVerdict(ForkSafeMutex &a, ForkSafeMutex &b) {
  const pid_t child = fork();
  if (child == 0)
    _exit(a.try_lock() && b.try_lock() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(ForkSafeMutex, IsFreeInAChildWhateverOtherThreadsHold) {
  ForkSafeMutex a, b;
  std::atomic<bool> stops = false;
  auto holdInTurn = [&](ForkSafeMutex &first, ForkSafeMutex &second) {
    while (!stops) {
      std::lock_guard outer(first);
      if (std::unique_lock inner(second, std::try_to_lock); inner)
        std::this_thread::yield();
    }
  };
  std::thread forwards([&] { holdInTurn(a, b); }), backwards([&] { holdInTurn(b, a); });
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(childsVerdict(a, b), 0);
  stops = true;
  forwards.join();
  backwards.join();
}

TEST(ForkSafeMutex, AThreadThatHoldsOneMayFork) {
  ForkSafeMutex a, b;
  std::lock_guard lock(a);
  EXPECT_TRUE(a.isMine());
  EXPECT_EQ(childsVerdict(b, b), 1); // once only
  EXPECT_FALSE(b.isMine());
}

TEST(HiddenLocks, ForkWaitsForThem) {
  std::mutex unseen; // of a library
  ForkSafeMutex own;
  std::atomic<bool> stops = false;
  auto useLibrary = [&] {
    while (!stops) {
      const HiddenLocks locks;
      std::lock_guard inside(unseen);
      std::lock_guard ours(own);
      std::this_thread::yield();
    }
  };
  std::thread one(useLibrary), two(useLibrary);
  for (int i = 0; i < 50; ++i) {
    const HiddenLocks locks; // the thread that forks may have one itself
    const pid_t child = fork();
    if (child == 0)
      _exit(unseen.try_lock() && own.try_lock() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stops = true;
  one.join();
  two.join();
}

TEST(ForkFreedMutex, ForkDoesNotWaitAndTheChildFindsItFree) {
  ForkFreedMutex other, own;
  std::atomic<bool> isHeld = false, stops = false;
  std::thread holder([&] {
    std::lock_guard lock(other);
    for (isHeld = true; !stops;)
      std::this_thread::yield();
  });
  while (!isHeld)
    std::this_thread::yield();
  std::unique_lock lock(own);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    other.lock();
    lock.unlock(); // of the thread that forked, which goes on
    own.lock();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  stops = true;
  holder.join();
}

} // namespace
} // namespace ingot::test
