// The ten functions of libgomp that oneDNN calls, over Team.h. scripts/own_dnnl.py gives oneDNN these names for them, so
// that it never meets another OpenMP library in the process.
#include "threads/Team.h"

using namespace ingot;

namespace {

/// A loop whose pieces are fixed: where the calling thread is in it.
struct Loop {
  long start, increment, chunk, iterations, next;
};
thread_local Loop loop;

/// The thread's next piece, in iterations; false when there is none left.
bool nextPiece(long &first, long &last) {
  const long self = threads::number(), count = threads::count();
  if (loop.chunk == 0) { // one piece each, the first ones longer by one iteration
    if (loop.next++ != 0)
      return false;
    const long length = loop.iterations / count, rest = loop.iterations % count;
    first = length * self + (self < rest ? self : rest);
    last = first + length + (self < rest ? 1 : 0);
  } else { // in turn
    first = (loop.next++ * count + self) * loop.chunk;
    last = first + loop.chunk < loop.iterations ? first + loop.chunk : loop.iterations;
  }
  return first < last;
}

} // namespace

#define INGOT_OPENMP extern "C" __attribute__((visibility("default")))

INGOT_OPENMP int ing_get_max_threads() { return threads::allowed(); }
INGOT_OPENMP int ing_get_num_threads() { return threads::count(); }
INGOT_OPENMP int ing_get_thread_num() { return threads::number(); }
INGOT_OPENMP int ing_in_parallel() { return threads::isParallel() ? 1 : 0; }

INGOT_OPENMP void INGO_barrier() { threads::barrier(); }
INGOT_OPENMP void INGO_parallel_start(void (*fn)(void *), void *data, unsigned count) {
  threads::begin(fn, data, count == 0 ? threads::allowed() : static_cast<int>(count));
}
INGOT_OPENMP void INGO_parallel_end() { threads::end(); }

INGOT_OPENMP bool INGO_loop_static_next(long *first, long *last) {
  long from = 0, to = 0;
  if (!nextPiece(from, to))
    return false;
  *first = loop.start + from * loop.increment;
  *last = loop.start + to * loop.increment;
  return true;
}

INGOT_OPENMP bool INGO_loop_static_start(long start, long end, long increment, long chunk, long *first, long *last) {
  const long distance = end - start;
  const long iterations = (distance + increment - (increment > 0 ? 1 : -1)) / increment;
  loop = {start, increment, chunk, iterations > 0 ? iterations : 0, 0};
  return INGO_loop_static_next(first, last);
}

INGOT_OPENMP void INGO_loop_end_nowait() {}
