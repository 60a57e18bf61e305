#include "runtime/threads/Pool.h"

#include "threads/Team.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <string>
#include <utility>

namespace ingot {
namespace {

constexpr int kMaxThreads = 256;

std::atomic<int> requestedThreads{0};

/// Threads inside of a ComputeScope, and how deep this one is in them.
std::atomic<int> computing{0};
thread_local int scopes = 0;

/// In a child process there is nobody else.
const int afterFork = pthread_atfork(nullptr, nullptr, [] { computing = scopes > 0 ? 1 : 0; });

/// The calling thread's part of numThreads().
int threadShare() { return std::max(1, numThreads() / std::max(1, computing.load(std::memory_order_relaxed))); }

bool readNumber(const std::string &path, int &number) {
  std::ifstream file(path);
  return static_cast<bool>(file >> number);
}

/// Hyper-threads of one core share its vector units, so that a second one only adds traffic.
int physicalCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  std::set<std::pair<int, int>> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set))
      continue;
    std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    int package = 0;
    int core = 0;
    if (!readNumber(topology + "physical_package_id", package) || !readNumber(topology + "core_id", core))
      core = cpu;
    cores.emplace(package, core);
  }
  return std::max<int>(1, static_cast<int>(cores.size()));
}

int defaultThreads() {
  if (const char *text = std::getenv("INGOT_NUM_THREADS")) {
    char *end = nullptr;
    long count = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && count > 0)
      return static_cast<int>(std::min<long>(count, kMaxThreads));
  }
  return std::min(physicalCores(), kMaxThreads);
}

struct Region {
  RangeFunction fn;
  void *context;
  int64_t begin, end, piece;
  Tasks pieces;

  static void work(void *data) {
    auto &region = *static_cast<Region *>(data);
    region.pieces.forEach(threads::number(), [&](int64_t number) {
      const int64_t first = region.begin + number * region.piece;
      region.fn(region.context, first, std::min(first + region.piece, region.end));
    });
  }
};

} // namespace

int numThreads() {
  static const int fallback = defaultThreads();
  int requested = requestedThreads.load(std::memory_order_relaxed);
  return requested > 0 ? requested : fallback;
}

void setNumThreads(int count) { requestedThreads.store(std::clamp(count, 0, kMaxThreads), std::memory_order_relaxed); }

ThreadScope::ThreadScope() { threads::allow(numThreads()); }

ComputeScope::ComputeScope() {
  if (scopes++ == 0)
    computing.fetch_add(1, std::memory_order_relaxed);
  threads::allow(threadShare());
}

ComputeScope::~ComputeScope() {
  if (--scopes == 0)
    computing.fetch_sub(1, std::memory_order_relaxed);
}

void parallelForImpl(int64_t begin, int64_t end, int64_t grain, RangeFunction fn, void *context) {
  if (begin >= end)
    return;
  int64_t length = end - begin;
  grain = std::max<int64_t>(grain, 1);
  int64_t pieces = (length - 1) / grain + 1;
  int count = static_cast<int>(std::min<int64_t>(threadShare(), pieces));
  if (threads::isParallel() || (count = threads::worthwhile(count)) <= 1) {
    fn(context, begin, end);
    return;
  }
  // Consecutive loops over one tensor find their part in the same core's cache.
  const int64_t piece = std::max(grain, (length - 1) / (count * kPiecesPerThread) + 1);
  Region region{fn, context, begin, end, piece, Tasks((length - 1) / piece + 1, count)};
  threads::run(Region::work, &region, count);
}

} // namespace ingot
