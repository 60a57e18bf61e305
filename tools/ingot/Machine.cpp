#include "Machine.h"

#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <chrono>
#include <vector>

using namespace ingot;
using namespace ingot::cli;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kLanes = 16 * 12; // twelve registers of the widest kind: enough to keep two units busy
constexpr int64_t kRounds = 1 << 19;

/// Multiplies and adds in registers.
INGOT_SIMD void multiplyAdd(float *lanes, int64_t rounds) {
  alignas(64) float sums[kLanes];
  std::copy_n(lanes, kLanes, sums);
  for (int64_t round = 0; round < rounds; ++round)
    for (int64_t i = 0; i < kLanes; ++i)
      sums[i] = sums[i] * 0.999F + 0.001F;
  std::copy_n(sums, kLanes, lanes);
}

INGOT_SIMD float sum(const float *data, int64_t count) {
#pragma clang fp reassociate(on)
  float total = 0;
  for (int64_t i = 0; i < count; ++i)
    total += data[i];
  return total;
}

/// The best of a few runs; others share the machine.
template <typename Work> double fastestSeconds(Work work) {
  double best = 1e9;
  for (int run = 0; run < 4; ++run) {
    const Clock::time_point start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

double measureFlops() {
  const int64_t threads = numThreads();
  std::vector<float> lanes(static_cast<size_t>(threads * kLanes), 1.0F);
  const double seconds = fastestSeconds([&] {
    parallelFor(0, threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        multiplyAdd(lanes.data() + i * kLanes, kRounds);
    });
  });
  return 2.0 * static_cast<double>(kLanes * kRounds * threads) / seconds / 1e9;
}

double measureBandwidth() {
  constexpr int64_t kElements = int64_t(1) << 26; // 256 MB: no cache holds it
  constexpr int64_t kPiece = int64_t(1) << 18;
  std::vector<float> data(kElements, 1.0F);
  std::vector<float> sums(kElements / kPiece);
  const double seconds = fastestSeconds([&] {
    parallelFor(0, kElements / kPiece, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        sums[static_cast<size_t>(i)] = sum(data.data() + i * kPiece, kPiece);
    });
  });
  return static_cast<double>(kElements * sizeof(float)) / seconds / 1e9;
}

} // namespace

MachineLimits cli::measureMachine() { return {measureFlops(), measureBandwidth()}; }
