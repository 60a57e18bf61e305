#include "threads/Team.h"

#include "threads/Invalid.h"
#include "threads/Patience.h"
#include "threads/Wait.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ingot::threads {
namespace {

constexpr int kMaxThreads = 256;

/// What the threads of one region share.
struct Region {
  Function fn = nullptr;
  void *data = nullptr;
  int count = 1;
  int cpu = -1;                       ///< where the caller ran when it began
  Signal running;                     ///< helpers that have not finished
  Signal phase;                       ///< of the barrier
  std::atomic<int> here{0};           ///< at the barrier
  std::atomic<bool> isInvalid{false}; ///< a helper has raised that flag
  std::atomic<bool> isHeldUp{false};  ///< somebody else had the CPU of a helper while it was at work
};

/// Where a thread is: its innermost region.
struct Place {
  Region *region = nullptr;
  int number = 0;
};

/// A helper's place in a crew.
struct Seat {
  Signal call;                      ///< another number (the round) means that the helper is called
  std::atomic<uint32_t> claimed{0}; ///< the last round that somebody began: the helper, or the caller instead of it
  std::atomic<pid_t> thread{0};

  /// True for the first who asks in a round. Whoever comes late, even after later rounds, gets false.
  bool claim(uint32_t round) {
    uint32_t last = claimed.load(std::memory_order_relaxed);
    while (static_cast<int32_t>(last - round) < 0)
      if (claimed.compare_exchange_weak(last, round, std::memory_order_acq_rel, std::memory_order_relaxed))
        return true;
    return false;
  }
};

using Clock = std::chrono::steady_clock;

/// How often the kernel has given the CPU of this thread to another that wanted it. (What a hypervisor takes is not counted: doing
/// without helpers does not help against that.)
long timesHeldUp() {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/// Whether that number is another than `before`, which it becomes.
bool wasHeldUp(long &before) {
  const long now = timesHeldUp();
  return std::exchange(before, now) != now;
}

/// The helpers of one calling thread.
class Crew {
public:
  /// As many threads as can be had, at most `count` with the caller.
  int grow(int count);
  /// How many threads are worth waiting for, of those that are wanted.
  int worthwhile(int count) { return patience.isTried() ? patience.threads(count, Clock::now()) : count; }
  void start(Function fn, void *data, int count);
  /// Does the parts of helpers that have not come (somebody else may have their CPU), and waits for the others.
  void finish();
  /// In a child process, where no helper is: what there was is forgotten, not joined.
  void forget() { seats.clear(); }

  Region region;

private:
  void help(int number, Seat &seat, uint32_t seen);
  void fetch(const Seat &seat);

  /// Helpers that a region does not need are not disturbed. (Forgotten seats stay allocated: in the parent a helper waits
  /// at the same address.)
  std::vector<Seat *> seats;
  uint32_t rounds = 0;
  Clock::time_point started, lastFetch;
  Patience patience;
};

thread_local Place place;

/// Moves a thread (0: this one) off a CPU, if there is another for it. It may come back afterwards, so that nothing is
/// pinned.
void moveOff(int cpu, pid_t thread) {
  cpu_set_t all, others;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(thread, sizeof(all), &all) != 0)
    return;
  others = all;
  CPU_CLR(static_cast<size_t>(cpu), &others);
  if (CPU_COUNT(&others) != 0 && sched_setaffinity(thread, sizeof(others), &others) == 0)
    sched_setaffinity(thread, sizeof(all), &all);
}

void Crew::help(int number, Seat &seat, uint32_t seen) {
  seat.thread = static_cast<pid_t>(syscall(SYS_gettid));
  long heldUp = timesHeldUp();
  for (;;) {
    seen = seat.call.waitWhile(seen);
    if (!seat.claim(seen))
      continue;
    place = {&region, number};
    // Kernels like to wake a helper where its caller runs, and leave both there for long although another CPU idles.
    if (region.cpu == sched_getcpu())
      moveOff(region.cpu, 0);
    clearInvalid();
    const auto began = Clock::now();
    region.fn(region.data);
    if (isInvalid())
      region.isInvalid.store(true, std::memory_order_relaxed);
    if (Clock::now() - began > Patience::kLong && wasHeldUp(heldUp))
      region.isHeldUp.store(true, std::memory_order_relaxed);
    place = {};
    region.running.countDown();
  }
}

int Crew::grow(int count) {
  while (static_cast<int>(seats.size()) + 1 < count) {
    auto seat = std::make_unique<Seat>();
    const int number = static_cast<int>(seats.size()) + 1;
    seat->call.prepare(rounds);
    seat->claimed.store(rounds, std::memory_order_relaxed);
    try {
      // Never joined: helpers sleep when the process ends.
      std::thread([this, number, made = seat.get(), seen = rounds] { help(number, *made, seen); }).detach();
    } catch (const std::system_error &) {
      break; // the system gives no more threads
    }
    seats.push_back(seat.release());
  }
  return std::min(count, static_cast<int>(seats.size()) + 1);
}

void Crew::start(Function fn, void *data, int count) {
  region.fn = fn;
  region.data = data;
  region.count = count;
  region.cpu = sched_getcpu();
  region.here.store(0, std::memory_order_relaxed);
  region.isInvalid.store(false, std::memory_order_relaxed);
  region.isHeldUp.store(false, std::memory_order_relaxed);
  region.running.prepare(static_cast<uint32_t>(count - 1));
  started = Clock::now();
  ++rounds;
  for (int i = 0; i + 1 < count; ++i)
    seats[static_cast<size_t>(i)]->call.set(rounds);
}

/// A helper that does not come may wait for the very CPU that its caller keeps busy.
void Crew::fetch(const Seat &seat) {
  constexpr std::chrono::milliseconds interval{1};
  const auto now = Clock::now();
  const pid_t thread = seat.thread;
  if (thread == 0 || now - lastFetch < interval)
    return;
  lastFetch = now;
  moveOff(sched_getcpu(), thread);
}

void Crew::finish() {
  for (int number = 1; number < region.count; ++number) {
    Seat &seat = *seats[static_cast<size_t>(number - 1)];
    if (!seat.claim(rounds))
      continue;
    fetch(seat);
    const Place own = place;
    place = {&region, number};
    region.fn(region.data);
    place = own;
    region.running.countDown();
  }
  const auto done = Clock::now();
  region.running.waitUntil([](uint32_t left) { return left == 0; });
  patience.judge({started, done, Clock::now(), region.isHeldUp.load(std::memory_order_relaxed)}, region.count);
  if (region.isInvalid.load(std::memory_order_relaxed))
    raiseInvalid();
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

int worthwhile(int wanted) { return wanted > 1 && !place.region ? owned.crew().worthwhile(wanted) : wanted; }

int allowed() { return allowedThreads > 0 ? allowedThreads : static_cast<int>(std::thread::hardware_concurrency()); }
void allow(int count) { allowedThreads = count; }

} // namespace ingot::threads
