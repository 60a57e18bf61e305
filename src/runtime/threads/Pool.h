// Splitting loops over threads: those of src/threads, on which oneDNN runs, too.
#pragma once

#include <algorithm>
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

/// A thread that computes. Several of them at once share the threads that one alone may use: where all have work, helpers would only
/// be in each other's way.
struct ComputeScope {
  ComputeScope();
  ~ComputeScope();
  ComputeScope(const ComputeScope &) = delete;
  ComputeScope &operator=(const ComputeScope &) = delete;
};

/// Pieces per thread when there is enough work: a thread that is late (a busy neighbour) leaves its last pieces to the others, which
/// wait for no more than one of them.
inline constexpr int64_t kPiecesPerThread = 16;

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

/// Numbers of tasks that workers with memory of their own take one after the other. Each begins in its own contiguous share, and
/// goes on with what others have left: where a core is slow, or tasks differ in length, no thread waits long for another.
class Tasks {
public:
  Tasks(int64_t count, int64_t workers) : shareCount(std::clamp<int64_t>(workers, 1, kMostShares)) {
    for (int64_t i = 0; i < shareCount; ++i) {
      shares[i].next = count * i / shareCount;
      shares[i].end = count * (i + 1) / shareCount;
    }
  }

  /// Calls fn(task) for every task that no other worker has taken.
  template <typename F> void forEach(int64_t worker, F &&fn) {
    for (int64_t i = 0; i < shareCount; ++i) {
      Share &share = shares[(worker + i) % shareCount];
      for (int64_t task = share.next.fetch_add(1, std::memory_order_relaxed); task < share.end;
           task = share.next.fetch_add(1, std::memory_order_relaxed))
        fn(task);
    }
  }

private:
  static constexpr int64_t kMostShares = 16;
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  Share shares[kMostShares];
  int64_t shareCount;
};

} // namespace ingot
