#include "base/ForkSafeMutex.h"

#include <algorithm>
#include <new>
#include <pthread.h>
#include <vector>

namespace ingot {
namespace {

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
    return true;
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
  for (;;) {
    registry().mutex.lock();
    if (registry().tryHoldAll())
      return;
    // Somebody may want to make or drop one before letting another go.
    registry().mutex.unlock();
    std::this_thread::yield();
  }
}

void finishFork() {
  registry().releaseAll();
  registry().mutex.unlock();
}

void finishForkInChild() {
  for (ForkFreedMutex *each : registry().freed)
    each->freeInChild();
  finishFork();
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
