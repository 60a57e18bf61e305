// Mutexes in processes that fork.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace ingot {

/// Knows who has it.
class OwnedMutex {
public:
  void lock() {
    inner.lock();
    owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  bool try_lock() {
    if (!inner.try_lock())
      return false;
    owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    owner.store(std::thread::id(), std::memory_order_relaxed);
    inner.unlock();
  }

  /// Whether the calling thread has it.
  bool isMine() const { return owner.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  /// In a child process: unless the calling thread has it, whoever had it is not there.
  void freeInChild();

private:
  std::mutex inner;
  std::atomic<std::thread::id> owner;
};

/// For what every process needs whole: fork() waits until no other thread holds one, so that the child finds them free, and what
/// they guard complete. Who holds one waits for nothing but others of this kind; who holds none lets a waiting fork go first.
class ForkSafeMutex : public OwnedMutex {
public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  void lock();
  bool try_lock();
  void unlock();
  ForkSafeMutex(const ForkSafeMutex &) = delete;
  ForkSafeMutex &operator=(const ForkSafeMutex &) = delete;
};

/// While a thread has one, it may hold locks that we cannot see, such as those of a library: fork() in other threads waits as for a
/// ForkSafeMutex. Any number of threads may have one at a time.
class HiddenLocks {
public:
  HiddenLocks();
  ~HiddenLocks();
  HiddenLocks(const HiddenLocks &) = delete;
  HiddenLocks &operator=(const HiddenLocks &) = delete;
};

/// One that may be held for long: fork() does not wait for it. The child finds it free, unless the thread that forked has it; what
/// it guards is as the other thread left it.
class ForkFreedMutex : public OwnedMutex {
public:
  ForkFreedMutex();
  ~ForkFreedMutex();
  ForkFreedMutex(const ForkFreedMutex &) = delete;
  ForkFreedMutex &operator=(const ForkFreedMutex &) = delete;
};

} // namespace ingot
