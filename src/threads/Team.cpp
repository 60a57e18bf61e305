#include "threads/Team.h"

#include "threads/Wait.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

namespace ingot::threads {
namespace {

constexpr int kMaxThreads = 256;

/// What the threads of one region share.
struct Region {
  Function fn = nullptr;
  void *data = nullptr;
  int count = 1;
  int cpu = -1;             ///< where the caller ran when it began
  Signal running;           ///< helpers that have not finished
  Signal phase;             ///< of the barrier
  std::atomic<int> here{0}; ///< at the barrier
};

/// Where a thread is: its innermost region.
struct Place {
  Region *region = nullptr;
  int number = 0;
};

/// The helpers of one calling thread.
class Crew {
public:
  /// As many threads as can be had, at most `count` with the caller.
  int grow(int count);
  void start(Function fn, void *data, int count);
  void finish() {
    region.running.waitUntil([](uint32_t left) { return left == 0; });
  }
  /// In a child process, where no helper is: what there was is forgotten, not joined.
  void forget() { calls.clear(); }

  Region region;

private:
  void help(int number, Signal &call, uint32_t seen);

  /// By helper: another number means that it is called. Helpers that a region does not need are not disturbed. (Forgotten
  /// ones stay allocated: in the parent a helper waits at the same address.)
  std::vector<Signal *> calls;
  uint32_t rounds = 0;
};

thread_local Place place;

/// Kernels like to wake a helper where its caller runs, and leave both there for long although another CPU idles. The
/// helper then goes elsewhere; it may come back afterwards, so that nothing is pinned.
void leave(int cpu) {
  cpu_set_t all, others;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getcpu() != cpu || sched_getaffinity(0, sizeof(all), &all) != 0)
    return;
  others = all;
  CPU_CLR(static_cast<size_t>(cpu), &others);
  if (CPU_COUNT(&others) != 0 && sched_setaffinity(0, sizeof(others), &others) == 0)
    sched_setaffinity(0, sizeof(all), &all);
}

void Crew::help(int number, Signal &call, uint32_t seen) {
  for (;;) {
    seen = call.waitWhile(seen);
    place = {&region, number};
    leave(region.cpu);
    region.fn(region.data);
    place = {};
    region.running.countDown();
  }
}

int Crew::grow(int count) {
  while (static_cast<int>(calls.size()) + 1 < count) {
    auto call = std::make_unique<Signal>();
    const int number = static_cast<int>(calls.size()) + 1;
    call->prepare(rounds);
    try {
      // Never joined: helpers sleep when the process ends.
      std::thread([this, number, call = call.get(), seen = rounds] { help(number, *call, seen); }).detach();
    } catch (const std::system_error &) {
      break; // the system gives no more threads
    }
    calls.push_back(call.release());
  }
  return std::min(count, static_cast<int>(calls.size()) + 1);
}

void Crew::start(Function fn, void *data, int count) {
  region.fn = fn;
  region.data = data;
  region.count = count;
  region.cpu = sched_getcpu();
  region.here.store(0, std::memory_order_relaxed);
  region.running.prepare(static_cast<uint32_t>(count - 1));
  ++rounds;
  for (int i = 0; i + 1 < count; ++i)
    calls[static_cast<size_t>(i)]->set(rounds);
}

/// Crews outlive the threads that had them, and are taken over by others. Never destroyed: helpers may sleep in them.
struct Crews {
  std::mutex mutex;
  std::vector<Crew *> all, idle;
};

Crews &crews() {
  static Crews *instance = [] {
    auto *made = new Crews;
    pthread_atfork([] { crews().mutex.lock(); }, [] { crews().mutex.unlock(); },
                   [] {
                     for (Crew *crew : crews().all)
                       crew->forget();
                     crews().mutex.unlock();
                   });
    return made;
  }();
  return *instance;
}

/// The crew of the calling thread, given back when the thread ends.
class Owned {
public:
  Crew &crew() {
    if (!mine) {
      std::lock_guard lock(crews().mutex);
      if (crews().idle.empty()) {
        crews().all.push_back(new Crew);
        crews().idle.push_back(crews().all.back());
      }
      mine = crews().idle.back();
      crews().idle.pop_back();
    }
    return *mine;
  }
  ~Owned() {
    if (!mine)
      return;
    std::lock_guard lock(crews().mutex);
    crews().idle.push_back(mine);
  }

private:
  Crew *mine = nullptr;
};

thread_local Owned owned;
thread_local int allowedThreads = 0;

/// Regions of one thread, for those inside of others. They are as deep as libraries call each other.
struct Nesting {
  std::vector<Place> outer;
  Region alone; ///< shared by all inner ones: nobody else is in them
};
thread_local Nesting nesting;

} // namespace

void begin(Function fn, void *data, int wanted) {
  nesting.outer.push_back(place);
  wanted = std::clamp(wanted, 1, kMaxThreads);
  const int granted = place.region || wanted == 1 ? 1 : owned.crew().grow(wanted);
  if (granted == 1) {
    place = {&nesting.alone, 0};
    return;
  }
  place = {&owned.crew().region, 0};
  owned.crew().start(fn, data, granted);
}

void end() {
  if (place.region && place.region->count > 1)
    owned.crew().finish();
  place = nesting.outer.back();
  nesting.outer.pop_back();
}

void run(Function fn, void *data, int wanted) {
  begin(fn, data, wanted);
  fn(data);
  end();
}

void barrier() {
  Region *region = place.region;
  if (!region || region->count == 1)
    return;
  const uint32_t phase = region->phase.load();
  if (region->here.fetch_add(1, std::memory_order_acq_rel) + 1 == region->count) {
    region->here.store(0, std::memory_order_relaxed);
    region->phase.set(phase + 1);
  } else {
    region->phase.waitWhile(phase);
  }
}

int number() { return place.number; }
int count() { return place.region ? place.region->count : 1; }
bool isParallel() { return count() > 1; }

int allowed() { return allowedThreads > 0 ? allowedThreads : static_cast<int>(std::thread::hardware_concurrency()); }
void allow(int count) { allowedThreads = count; }

} // namespace ingot::threads
