#include "runtime/MemoryPlan.h"

#include <gtest/gtest.h>
#include <random>

namespace ingot {
namespace {

TEST(MemoryPlan, ReusesDeadBuffers) {
  std::vector<BufferLife> lives = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 4}};
  Result<MemoryPlan> plan = planMemory(lives);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->arenaBytes, 256u);
  EXPECT_EQ(plan->totalBytes, 512u);
}

TEST(MemoryPlan, RandomLifetimesNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<BufferLife> lives;
    size_t largestStep = 0;
    for (int i = 0; i < 80; ++i) {
      auto first = static_cast<int32_t>(random() % 60);
      auto last = static_cast<int32_t>(first + random() % 20);
      lives.push_back({random() % 5000, first, last});
    }
    Result<MemoryPlan> plan = planMemory(lives);
    ASSERT_TRUE(plan);
    for (size_t a = 0; a < lives.size(); ++a) {
      EXPECT_EQ(plan->offsets[a] % kBufferAlignment, 0u);
      EXPECT_LE(plan->offsets[a] + lives[a].bytes, plan->arenaBytes);
      for (size_t b = 0; b < a; ++b) {
        bool liveTogether = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
        bool overlap = plan->offsets[a] < plan->offsets[b] + lives[b].bytes &&
                       plan->offsets[b] < plan->offsets[a] + lives[a].bytes;
        EXPECT_FALSE(liveTogether && overlap) << a << " and " << b;
      }
    }
    for (int32_t step = 0; step < 80; ++step) {
      size_t sum = 0;
      for (const BufferLife &life : lives)
        if (life.first <= step && step <= life.last)
          sum += life.bytes;
      largestStep = std::max(largestStep, sum);
    }
    EXPECT_GE(plan->arenaBytes, largestStep);
    EXPECT_LE(plan->arenaBytes, plan->totalBytes);
  }
}

TEST(MemoryPlan, EmptyBuffersAndNone) {
  ASSERT_TRUE(planMemory({}));
  std::vector<BufferLife> lives = {{0, 0, 5}, {1, 0, 5}, {0, 2, 3}};
  Result<MemoryPlan> plan = planMemory(lives);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->arenaBytes, 64u);
}

TEST(MemoryPlan, RefusesOverflow) {
  std::vector<BufferLife> huge = {{SIZE_MAX - 3, 0, 1}};
  EXPECT_FALSE(planMemory(huge));
  std::vector<BufferLife> sum = {{SIZE_MAX / 2, 0, 1}, {SIZE_MAX / 2, 0, 1}, {SIZE_MAX / 2, 0, 1}};
  EXPECT_FALSE(planMemory(sum));
}

} // namespace
} // namespace ingot
