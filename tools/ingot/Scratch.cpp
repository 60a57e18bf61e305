#include "Scratch.h"

#include "base/ScratchFolder.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace ingot;

namespace {

/// Its path. Never destroyed: the thread that waits for signals may need it to the end, and removes the folder by itself.
std::string &folder() {
  static auto *path = new std::string;
  return *path;
}

int signals[2] = {-1, -1}; ///< a pipe of their numbers
std::atomic<bool> isInterrupted = false;

void tell(int number) {
  isInterrupted = true;
  const auto byte = static_cast<unsigned char>(number);
  (void)!::write(signals[1], &byte, 1);
}

/// Signals come later.
class Held {
public:
  Held() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
  }
  ~Held() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  Held(const Held &) = delete;
  Held &operator=(const Held &) = delete;

private:
  sigset_t before;
};

/// Waits for a signal, cleans up, and lets the signal do what it would have done.
void awaitSignal() {
  unsigned char number = 0;
  while (::read(signals[0], &number, 1) != 1) {
  }
  ingot::cli::removeScratch();
  ::signal(number, SIG_DFL);
  ::kill(::getpid(), number);
}

void watchSignals() {
  if (::pipe2(signals, O_CLOEXEC) != 0)
    return;
  try {
    std::thread(awaitSignal).detach();
  } catch (const std::system_error &) {
    return; // no threads to be had: signals end the process at once
  }
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction current{};
    // Whoever starts this process may want them to be ignored.
    if (::sigaction(number, nullptr, &current) != 0 || current.sa_handler != SIG_DFL)
      continue;
    current.sa_handler = tell;
    current.sa_flags = SA_RESTART;
    ::sigaction(number, &current, nullptr);
  }
}

} // namespace

void ingot::cli::makeScratch() {
  const Held untilWatched;
  Result<ScratchFolder> made = ScratchFolder::make();
  if (!made)
    return; // whoever needs a file will say so
  folder() = (new ScratchFolder(*std::move(made)))->path();
  ::setenv("TMPDIR", folder().c_str(), 1);
  watchSignals();
}

void ingot::cli::yieldToSignal() {
  while (isInterrupted)
    ::pause();
}

void ingot::cli::removeScratch() {
  // Other threads may go on for a moment, and put something into a folder that is being removed.
  constexpr int kTries = 100;
  std::error_code ignored;
  for (int i = 0; i < kTries && !folder().empty() && fs::exists(folder(), ignored); ++i)
    fs::remove_all(folder(), ignored);
}
