// Splitting loops over threads: those of src/threads, on which oneDNN runs, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace ingot {

/// Threads one call may use: what setNumThreads() asked for, else INGOT_NUM_THREADS, else the physical
/// cores this process may run on.
int numThreads();

/// 0 restores the default.
void setNumThreads(int count);

/// Makes oneDNN, when the calling thread calls it, follow numThreads().
struct ThreadScope {
  ThreadScope();
};

using RangeFunction = void (*)(void *context, int64_t begin, int64_t end);
void parallelForImpl(int64_t begin, int64_t end, int64_t grain, RangeFunction fn, void *context);

/// Calls fn(b, e) on disjoint pieces that cover [begin, end), possibly at the same time on several
/// threads. Pieces have at least `grain` elements, except for the last; choose it so that a piece takes
/// some ten microseconds. Work of one piece, and calls from inside a parallel region, run inline.
template <typename F> void parallelFor(int64_t begin, int64_t end, int64_t grain, F &&fn) {
  using Function = std::remove_reference_t<F>;
  parallelForImpl(
      begin, end, grain, [](void *context, int64_t b, int64_t e) { (*static_cast<Function *>(context))(b, e); },
      const_cast<void *>(static_cast<const void *>(std::addressof(fn))));
}

/// Numbers of tasks that threads with memory of their own take one after the other: where a core is slow, or tasks differ in
/// length, no thread waits long for another.
class Tasks {
public:
  explicit Tasks(int64_t count) : count(count) {}

  /// Calls fn(task) for every task that no other thread has taken.
  template <typename F> void forEach(F &&fn) {
    for (int64_t task = next.fetch_add(1, std::memory_order_relaxed); task < count;
         task = next.fetch_add(1, std::memory_order_relaxed))
      fn(task);
  }

private:
  std::atomic<int64_t> next{0};
  int64_t count;
};

} // namespace ingot
