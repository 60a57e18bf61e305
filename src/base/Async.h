// Work beside the calling thread.
#pragma once

#include <future>
#include <system_error>
#include <utility>

namespace ingot {

/// Runs `work` in a thread of its own; where the system gives no more threads, in the one that asks for the result.
template <typename Work> auto startAsync(Work work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error &) {
    return std::async(std::launch::deferred, std::move(work));
  }
}

} // namespace ingot
