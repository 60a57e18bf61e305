#include "runtime/threads/Pool.h"

#include "threads/Team.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <set>
#include <string>
#include <utility>

namespace ingot {
namespace {

constexpr int kMaxThreads = 256;
/// Pieces per thread when there is enough work: a thread that is late (a busy neighbour) leaves its last
/// pieces to the others.
constexpr int64_t kPiecesPerThread = 4;

std::atomic<int> requestedThreads{0};

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

/// One thread's share. Its owner and thieves take pieces from the front.
struct alignas(64) Share {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

struct Region {
  RangeFunction fn;
  void *context;
  int64_t piece;
  int shareCount;
  Share *shares;

  void drain(Share &share) const {
    for (;;) {
      int64_t begin = share.next.fetch_add(piece, std::memory_order_relaxed);
      if (begin >= share.end)
        return;
      fn(context, begin, std::min(begin + piece, share.end));
    }
  }

  static void work(void *data) {
    const Region &region = *static_cast<const Region *>(data);
    const int self = threads::number();
    for (int i = 0; i < region.shareCount; ++i)
      region.drain(region.shares[(self + i) % region.shareCount]);
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

void parallelForImpl(int64_t begin, int64_t end, int64_t grain, RangeFunction fn, void *context) {
  if (begin >= end)
    return;
  int64_t length = end - begin;
  grain = std::max<int64_t>(grain, 1);
  int64_t pieces = (length - 1) / grain + 1;
  int count = static_cast<int>(std::min<int64_t>(numThreads(), pieces));
  if (count <= 1 || threads::isParallel()) {
    fn(context, begin, end);
    return;
  }
  // Each thread begins in its own contiguous share, so that consecutive loops over one tensor find their
  // part in the same core's cache.
  Share shares[kMaxThreads];
  int64_t share = (length - 1) / count + 1;
  for (int i = 0; i < count; ++i) {
    shares[i].next = begin + std::min<int64_t>(length, i * share);
    shares[i].end = begin + std::min<int64_t>(length, (i + 1) * share);
  }
  int64_t piece = std::max(grain, (share - 1) / kPiecesPerThread + 1);
  Region region{fn, context, piece, count, shares};
  threads::run(Region::work, &region, count);
}

} // namespace ingot
