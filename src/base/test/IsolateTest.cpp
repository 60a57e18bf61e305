#include "base/Isolate.h"

#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <sys/mman.h>
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
  Result<Texts> left = runIsolated("cannot be read", limits, []() -> Result<Texts> { ::_exit(0); });
  ASSERT_FALSE(left);
  Result<Texts> thrown = runIsolated("failed", limits, []() -> Result<Texts> { throw std::runtime_error("odd"); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().kind, ErrorKind::Internal);
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
