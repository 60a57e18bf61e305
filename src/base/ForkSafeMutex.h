// A mutex for what every process needs whole: fork() waits until no other thread holds one, so that the child finds them free,
// and what they guard complete. Who holds one waits for nothing but others of this kind.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace ingot {

class ForkSafeMutex {
public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex &) = delete;
  ForkSafeMutex &operator=(const ForkSafeMutex &) = delete;

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

private:
  std::mutex inner;
  std::atomic<std::thread::id> owner;
};

} // namespace ingot
