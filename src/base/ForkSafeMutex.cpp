#include "base/ForkSafeMutex.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <pthread.h>
#include <vector>

namespace ingot {
namespace {

/// How many threads want to fork.
std::atomic<int> waitingForks = 0;
/// How many of these mutexes the thread has, and HiddenLocks.
thread_local int heldHere = 0;
/// HiddenLocks of all threads, and of this one.
std::atomic<int> hidden = 0;
thread_local int hiddenHere = 0;

void letForkGoFirst() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

struct Registry {
  std::mutex mutex;
  std::vector<ForkSafeMutex *> all;
  std::vector<ForkSafeMutex *> held; ///< during a fork
  std::vector<ForkFreedMutex *> freed;

  /// All at once or none: threads take them in orders that nobody knows here. Those that the caller has already are its own.
  bool tryHoldAll() {
    for (ForkSafeMutex *each : all) {
      if (each->isMine())
        continue;
      if (!each->try_lock()) {
        releaseAll();
        return false;
      }
      held.push_back(each);
    }
    if (hidden == hiddenHere)
      return true;
    releaseAll();
    return false;
  }

  void releaseAll() {
    for (ForkSafeMutex *each : held)
      each->unlock();
    held.clear();
  }
};

void prepareFork();
void finishFork();
void finishForkInChild();

Registry &registry() {
  static Registry *instance = [] {
    auto *made = new Registry; // outlives mutexes of static objects
    pthread_atfork(prepareFork, finishFork, finishForkInChild);
    return made;
  }();
  return *instance;
}

void prepareFork() {
  ++waitingForks;
  for (;;) {
    registry().mutex.lock();
    if (registry().tryHoldAll())
      return;
    // Somebody may want to make or drop one before letting another go.
    registry().mutex.unlock();
    std::this_thread::yield();
  }
}

void finish() {
  registry().releaseAll();
  registry().mutex.unlock();
}

void finishFork() {
  --waitingForks;
  finish();
}

void finishForkInChild() {
  for (ForkFreedMutex *each : registry().freed)
    each->freeInChild();
  waitingForks = 0; // the threads that want more are not here
  finish();
}

} // namespace

ForkSafeMutex::ForkSafeMutex() {
  std::lock_guard lock(registry().mutex);
  registry().all.push_back(this);
}

ForkSafeMutex::~ForkSafeMutex() {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().all, this);
}

void ForkSafeMutex::lock() {
  // Without this, threads that always have one or another could keep a fork waiting for seconds.
  while (heldHere == 0 && waitingForks.load(std::memory_order_relaxed) > 0)
    letForkGoFirst();
  OwnedMutex::lock();
  ++heldHere;
}

bool ForkSafeMutex::try_lock() {
  const bool isHeld = OwnedMutex::try_lock();
  heldHere += isHeld;
  return isHeld;
}

void ForkSafeMutex::unlock() {
  --heldHere;
  OwnedMutex::unlock();
}

HiddenLocks::HiddenLocks() {
  registry(); // which makes forks wait
  // Counted before it looks: either this thread sees the fork, or the fork sees this thread.
  while (++hidden, heldHere == 0 && waitingForks > 0) {
    --hidden;
    letForkGoFirst();
  }
  ++hiddenHere;
  ++heldHere;
}

HiddenLocks::~HiddenLocks() {
  --heldHere;
  --hiddenHere;
  --hidden;
}

ForkFreedMutex::ForkFreedMutex() {
  std::lock_guard lock(registry().mutex);
  registry().freed.push_back(this);
}

ForkFreedMutex::~ForkFreedMutex() {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().freed, this);
}

void OwnedMutex::freeInChild() {
  if (isMine())
    return;
  new (&inner) std::mutex; // nobody is left who could unlock it
  owner.store(std::thread::id(), std::memory_order_relaxed);
}

} // namespace ingot
