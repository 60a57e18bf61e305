// A number that threads wait on: for a while awake, then asleep.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ingot::threads {

/// Longer than between two kernels of a model, shorter than a time slice by far.
constexpr std::chrono::microseconds kAwake{50};

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Signal {
public:
  uint32_t load() const { return value.load(std::memory_order_acquire); }

  /// Sets the number and wakes who waits for a change.
  void set(uint32_t next) {
    value.store(next, std::memory_order_seq_cst);
    wake();
  }
  /// The same for the number before, less one; true if it is 0 now. Only then waiting threads are woken.
  bool countDown() {
    if (value.fetch_sub(1, std::memory_order_seq_cst) != 1)
      return false;
    wake();
    return true;
  }
  /// Without waking anybody: nobody waits yet.
  void prepare(uint32_t next) { value.store(next, std::memory_order_relaxed); }

  /// Returns when the number is not `old`.
  uint32_t waitWhile(uint32_t old) {
    return waitUntil([old](uint32_t now) { return now != old; });
  }

  template <typename Condition> uint32_t waitUntil(Condition isMet) {
    const auto start = std::chrono::steady_clock::now();
    do {
      for (int i = 0; i < 32; ++i) {
        const uint32_t now = load();
        if (isMet(now))
          return now;
        relax();
      }
    } while (std::chrono::steady_clock::now() - start < kAwake);
    return sleepUntil(isMet);
  }

private:
  template <typename Condition> uint32_t sleepUntil(Condition isMet) {
    // Counted before the number is looked at again: whoever changes it afterwards sees the sleeper.
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    uint32_t now;
    while (!isMet(now = value.load(std::memory_order_seq_cst)))
      syscall(SYS_futex, address(), FUTEX_WAIT_PRIVATE, now, nullptr, nullptr, 0);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    return now;
  }

  void wake() {
    if (sleepers.load(std::memory_order_seq_cst) != 0)
      syscall(SYS_futex, address(), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
  uint32_t *address() { return reinterpret_cast<uint32_t *>(&value); }

  alignas(64) std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};
};

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the kernel looks at the number itself");

} // namespace ingot::threads
