// Threads that run one function together. Waiting threads spin for some microseconds and then sleep, so that a busy
// neighbour costs what it takes and no more. Knows nothing else of Ingot: oneDNN runs on it, too (OpenMp.cpp).
#pragma once

#define INGOT_THREADS_API __attribute__((visibility("default")))

namespace ingot::threads {

using Function = void (*)(void *data);

/// Runs fn(data) on `count` threads at once, of which the caller is number 0, and returns when all have. Inside of a
/// region it runs on the caller alone. Every calling thread has helpers of its own.
INGOT_THREADS_API void run(Function fn, void *data, int count);

/// The same in two parts: the caller's own call of fn stands between them.
INGOT_THREADS_API void begin(Function fn, void *data, int count);
INGOT_THREADS_API void end();

/// How many of `wanted` threads to use now: fewer for a while after others have kept helpers of the calling thread off their CPUs.
INGOT_THREADS_API int worthwhile(int wanted);

/// Waits until all threads of the region are here.
INGOT_THREADS_API void barrier();

/// Of the calling thread in its innermost region; 0 and 1 outside.
INGOT_THREADS_API int number();
INGOT_THREADS_API int count();
/// Whether several threads are at work.
INGOT_THREADS_API bool isParallel();

/// How many threads a library may use that the calling thread calls.
INGOT_THREADS_API int allowed();
INGOT_THREADS_API void allow(int count);

} // namespace ingot::threads
