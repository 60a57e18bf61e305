#include "base/Isolate.h"

#include "base/ScratchFolder.h"
#include "base/test/TemporaryFolder.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ingot {
namespace {

using Texts = std::vector<std::string>;

constexpr IsolationLimits limits{.seconds = 100, .bytes = uint64_t(1) << 30};

TEST(Isolate, ReturnsResultsOfAnySize) {
  Texts sent = {"", std::string("a\0b", 3), std::string(3 << 20, 'x')};
  Result<Texts> result = runIsolated("failed", limits, [&]() -> Result<Texts> { return sent; });
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ(*result, sent);
}

TEST(Isolate, ReturnsErrorsWithTheirNotes) {
  Result<Texts> result =
      runIsolated("failed", limits, []() -> Result<Texts> { return usageError("no").note("because").note("of this"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Usage);
  EXPECT_EQ(result.error().str(), "no\n  because\n  of this");
}

TEST(Isolate, RunsElsewhere) {
  int touched = 0;
  Result<Texts> result = runIsolated("failed", limits, [&]() -> Result<Texts> {
    touched = 1;
    return Texts{std::to_string(::getpid())};
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(touched, 0);
  EXPECT_NE(result->front(), std::to_string(::getpid()));
}

TEST(Isolate, SurvivesWhateverHappensThere) {
  auto raise = [](int number) {
    return runIsolated("cannot be read", limits, [=]() -> Result<Texts> {
      ::raise(number);
      return Texts{};
    });
  };
  for (int number : {SIGSEGV, SIGABRT, SIGXCPU}) {
    Result<Texts> result = raise(number);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Corrupt);
    EXPECT_EQ(result.error().str(),
              "cannot be read\n  the process that did it ended with signal " + std::to_string(number));
  }
  for (int number : {SIGINT, SIGTERM, SIGKILL})
    EXPECT_EQ(raise(number).error().kind, ErrorKind::Io) << number;
  Result<Texts> starved = runIsolated("cannot be read", limits, []() -> Result<Texts> {
    std::fputs("LLVM ERROR: out of memory\n", stderr);
    std::abort();
  });
  ASSERT_FALSE(starved);
  EXPECT_EQ(starved.error().str(), "cannot be read\n  it asks for more memory than a program of its size may take");
  Result<Texts> left = runIsolated("cannot be read", limits, []() -> Result<Texts> { ::_exit(0); });
  ASSERT_FALSE(left);
  Result<Texts> thrown = runIsolated("failed", limits, []() -> Result<Texts> { throw std::runtime_error("odd"); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().kind, ErrorKind::Internal);
}

TEST(Isolate, PartsMayTakeLessMemory) {
  const auto fits = [](size_t bytes) {
    void *taken = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return taken != MAP_FAILED && ::munmap(taken, bytes) == 0;
  };
  constexpr size_t kMuch = 256 << 20;
  Result<Texts> result = runIsolated("failed", limits, [&]() -> Result<Texts> {
    std::string seen = fits(kMuch) ? "+" : "-";
    {
      TighterMemory memory(64 << 20);
      seen += fits(kMuch) ? "+" : "-";
    }
    return Texts{seen + (fits(kMuch) ? "+" : "-")};
  });
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ(result->front(), "+-+");
  TighterMemory here(64 << 20); // not in a process of its own
  EXPECT_TRUE(fits(kMuch));
}

TEST(Isolate, LimitsTimeAndMemory) {
  IsolationLimits small{.seconds = 1, .bytes = uint64_t(64) << 20};
  Result<Texts> slow = runIsolated("takes too long", small, []() -> Result<Texts> {
    for (volatile uint64_t turns = 0;; turns = turns + 1) {
    }
  });
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().message, "takes too long");
  Result<Texts> large = runIsolated("takes too much", small, []() -> Result<Texts> {
    void *block = ::mmap(nullptr, size_t(256) << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? Result<Texts>(ioError("refused")) : Texts{};
  });
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message, "refused");
}

TEST(Isolate, IgnoredChildrenAreFine) {
  auto before = ::signal(SIGCHLD, SIG_IGN);
  Result<Texts> result = runIsolated("failed", limits, []() -> Result<Texts> { return Texts{"done"}; });
  ::signal(SIGCHLD, before);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->front(), "done");
}

TEST(Isolate, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> answers(8);
  for (size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] {
      Result<Texts> result = runIsolated("failed", limits, [=]() -> Result<Texts> { return Texts{std::to_string(i)}; });
      answers[i] = result ? result->front() : result.error().str();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < answers.size(); ++i)
    EXPECT_EQ(answers[i], std::to_string(i));
}

TEST(Isolate, MayBeCalledFromWorkThatHoldsItOff) {
  IsolationHold outer;
  IsolationHold inner;
  EXPECT_TRUE(runIsolated("failed", limits, []() -> Result<Texts> {
    IsolationHold again;
    return Texts{};
  }));
}

TEST(Isolate, MayBeCalledFromWorkOfSeveralThreads) {
  std::atomic<int> inside = 0;
  auto work = [&] {
    IsolationHold hold;
    for (++inside; inside < 2;)
      std::this_thread::yield();
    EXPECT_TRUE(runIsolated("failed", limits, []() -> Result<Texts> { return Texts{}; }));
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(Isolate, WaitsForOthersWork) {
  std::atomic<bool> isHeld = false, isDone = false;
  std::thread worker([&] {
    IsolationHold hold;
    isHeld = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    isDone = true;
  });
  while (!isHeld)
    std::this_thread::yield();
  Result<Texts> result =
      runIsolated("failed", limits, [&]() -> Result<Texts> { return Texts{isDone ? "done" : "too early"}; });
  worker.join();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->front(), "done");
}

/// Another thread's work is not there in a child that somebody makes, and must not be waited for.
TEST(Isolate, WorksInAChildThatWasMadeDuringWork) {
  std::atomic<bool> isHeld = false, stops = false;
  std::thread worker([&] {
    IsolationHold hold;
    for (isHeld = true; !stops;)
      std::this_thread::yield();
  });
  while (!isHeld)
    std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(runIsolated("failed", limits, []() -> Result<Texts> { return Texts{}; }) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  stops = true;
  worker.join();
}

TEST(Isolate, TemporaryFilesGoWithTheChild) {
  test::TemporaryFolder folder;
  test::TmpDir tmp(folder.path());
  Result<Texts> result = runIsolated("failed", limits, []() -> Result<Texts> {
    Result<ScratchFolder> left = ScratchFolder::make();
    if (left && left->write("file", "text"))
      ::abort();
    return Texts{};
  });
  EXPECT_FALSE(result);
  EXPECT_EQ(folder.entryCount(), 0u);
}

TEST(Isolate, EndsWithItsCaller) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t caller = ::fork();
  if (caller == 0) {
    (void)runIsolated("failed", limits, [&]() -> Result<Texts> {
      (void)!::write(ends[1], "x", 1);
      for (;;)
        ::pause();
    });
    ::_exit(0);
  }
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1); // the child runs
  ::kill(caller, SIGKILL);
  ::waitpid(caller, nullptr, 0);
  // The pipe ends when the last process that could write to it does.
  ::alarm(20);
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::alarm(0);
  ::close(ends[0]);
}

TEST(Isolate, LastWordsAreANote) {
  Result<Texts> result = runIsolated("failed", limits, []() -> Result<Texts> {
    (void)!::write(STDERR_FILENO, "it broke\nbadly\n", 15);
    ::abort();
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().str(), "failed\n  the process that did it ended with signal 6: it broke");
}

TEST(Isolate, WordsOfSuccessAreShown) {
  testing::internal::CaptureStderr();
  Result<Texts> result = runIsolated("failed", limits, []() -> Result<Texts> {
    (void)!::write(STDERR_FILENO, "it took 3 s\n", 12);
    return Texts{};
  });
  EXPECT_TRUE(result);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "it took 3 s\n");
}

TEST(Isolate, CanBeSwitchedOff) {
  ::setenv("INGOT_ISOLATE", "0", 1);
  int touched = 0;
  Result<Texts> result = runIsolated("failed", limits, [&]() -> Result<Texts> {
    touched = 1;
    return Texts{};
  });
  ::unsetenv("INGOT_ISOLATE");
  EXPECT_TRUE(result);
  EXPECT_EQ(touched, 1);
}

} // namespace
} // namespace ingot
