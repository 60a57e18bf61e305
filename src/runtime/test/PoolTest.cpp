#include "runtime/threads/Pool.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace ingot {
namespace {

class PoolTest : public testing::Test {
protected:
  void TearDown() override { setNumThreads(0); }
};

void expectEachOnce(int64_t begin, int64_t end, int64_t grain) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(end));
  parallelFor(begin, end, grain, [&](int64_t b, int64_t e) {
    EXPECT_LT(b, e);
    for (int64_t i = b; i < e; ++i)
      ++seen[static_cast<size_t>(i)];
  });
  for (int64_t i = 0; i < end; ++i)
    EXPECT_EQ(seen[static_cast<size_t>(i)], i >= begin ? 1 : 0) << i;
}

TEST_F(PoolTest, VisitsEachIndexOnce) {
  for (int threads : {1, 2, 3, 7}) {
    setNumThreads(threads);
    expectEachOnce(0, 0, 1);
    expectEachOnce(0, 1, 1);
    expectEachOnce(5, 1000, 1);
    expectEachOnce(3, 1001, 17);
    expectEachOnce(0, 100, 1000);
    expectEachOnce(0, 8, 1);
  }
}

TEST_F(PoolTest, NestedCallsRunInline) {
  setNumThreads(3);
  std::atomic<int> total = 0;
  parallelFor(0, 10, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      parallelFor(0, 10, 1, [&](int64_t nb, int64_t ne) { total += static_cast<int>(ne - nb); });
  });
  EXPECT_EQ(total, 100);
}

TEST_F(PoolTest, ThreadsThatComputeShare) {
  setNumThreads(4);
  auto piecesOfOneCall = [] {
    std::atomic<int> pieces = 0;
    parallelFor(0, 4, 1, [&](int64_t, int64_t) { ++pieces; });
    return pieces.load();
  };
  ComputeScope outer, inner; // one thread counts once
  EXPECT_EQ(piecesOfOneCall(), 4);
  std::atomic<bool> stops = false;
  std::atomic<int> others = 0;
  std::vector<std::thread> busy;
  for (int i = 0; i < 3; ++i)
    busy.emplace_back([&] {
      ComputeScope scope;
      for (++others; !stops;)
        std::this_thread::yield();
    });
  while (others < 3)
    std::this_thread::yield();
  EXPECT_EQ(piecesOfOneCall(), 1);
  stops = true;
  for (std::thread &thread : busy)
    thread.join();
  EXPECT_EQ(piecesOfOneCall(), 4);
}

TEST_F(PoolTest, ConcurrentCallers) {
  setNumThreads(2);
  std::atomic<int64_t> total = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        parallelFor(0, 100, 5, [&](int64_t b, int64_t e) { total += e - b; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 4 * 50 * 100);
}

TEST_F(PoolTest, NumberOfThreads) {
  EXPECT_GE(numThreads(), 1);
  setNumThreads(5);
  EXPECT_EQ(numThreads(), 5);
  setNumThreads(-1);
  EXPECT_GE(numThreads(), 1);
}

TEST(Pool, EveryTaskIsTakenOnce) {
  std::vector<std::atomic<int>> taken(1000);
  Tasks tasks(static_cast<int64_t>(taken.size()), 40); // more workers than shares
  parallelFor(0, 40, 1, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker)
      tasks.forEach(worker, [&](int64_t task) { ++taken[static_cast<size_t>(task)]; });
  });
  for (const std::atomic<int> &count : taken)
    EXPECT_EQ(count, 1);
}

TEST(Pool, WorkersBeginInTheirOwnShares) {
  std::vector<int64_t> order;
  Tasks tasks(10, 2);
  tasks.forEach(1, [&](int64_t task) { order.push_back(task); });
  EXPECT_EQ(order, (std::vector<int64_t>{5, 6, 7, 8, 9, 0, 1, 2, 3, 4}));
}

} // namespace
} // namespace ingot
