#include "base/Isolate.h"

#include "base/MappedFile.h"
#include "base/ScratchFolder.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;

namespace {

using Texts = std::vector<std::string>;
using Work = std::function<Result<Texts>()>;

constexpr uint64_t kSuccess = 0;

/// Keeps children from being made during work that must not be cut.
class Gate {
public:
  static Gate &get();

  void enter() {
    if (depth++ > 0)
      return;
    std::unique_lock lock(mutex);
    // Whoever waits to fork goes first. But work may wait for work of another thread: it does not wait for ever.
    const auto mayEnter = [this] { return waiting == 0; };
    changed.wait_for(lock, std::chrono::seconds(2), mayEnter);
    ++working;
  }
  void leave() {
    if (--depth > 0)
      return;
    std::lock_guard lock(mutex);
    --working;
    changed.notify_all();
  }

  /// Forks when nobody works. A thread that asks for it during its own work is at a point where that does not count, for
  /// others who wait here as well.
  pid_t forkWhenIdle() {
    std::unique_lock lock(mutex);
    const int own = depth > 0 ? 1 : 0;
    ++waiting;
    working -= own;
    changed.notify_all();
    changed.wait(lock, [&] { return working == 0; });
    const pid_t child = ::fork();
    if (child == 0) {
      lock.release(); // has been forgotten
    } else {
      --waiting;
      working += own;
      changed.notify_all();
    }
    return child;
  }

private:
  /// In a child process only the thread that forked goes on.
  void forget() {
    new (&mutex) std::mutex;
    new (&changed) std::condition_variable;
    working = depth > 0 ? 1 : 0;
    waiting = 0;
  }

  static inline thread_local int depth = 0;

  std::mutex mutex;
  std::condition_variable changed;
  int working = 0, waiting = 0;
};

Gate &Gate::get() {
  static Gate *gate = [] {
    auto *made = new Gate; // threads may be inside when the process ends
    pthread_atfork(nullptr, nullptr, [] { Gate::get().forget(); });
    return made;
  }();
  return *gate;
}

bool writeAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string readAll(int descriptor) {
  std::string message;
  std::vector<char> chunk(1 << 16);
  for (;;) {
    ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return message;
    message.append(chunk.data(), static_cast<size_t>(count));
  }
}

/// What the child says on stderr: shown if all went well, else a word of it goes into the error.
class LastWords {
public:
  LastWords() : descriptor(::memfd_create("stderr", MFD_CLOEXEC)) {}
  ~LastWords() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  LastWords(const LastWords &) = delete;
  LastWords &operator=(const LastWords &) = delete;

  void capture() const {
    if (descriptor >= 0)
      ::dup2(descriptor, STDERR_FILENO);
  }
  std::string text() const {
    if (descriptor < 0)
      return "";
    ::lseek(descriptor, 0, SEEK_SET);
    return readAll(descriptor);
  }

private:
  int descriptor;
};

struct Pipe {
  int ends[2] = {-1, -1};

  void close(int end) {
    if (ends[end] >= 0)
      ::close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() {
    close(0);
    close(1);
  }
};

void appendNumber(std::string &message, uint64_t number) {
  message.append(reinterpret_cast<const char *>(&number), sizeof(number));
}

/// A number for success or the kind of error, then every text with its length.
std::string pack(const Result<Texts> &result) {
  Texts texts;
  if (result) {
    texts = *result;
  } else {
    texts = result.error().notes;
    texts.insert(texts.begin(), result.error().message);
  }
  std::string message;
  appendNumber(message, result ? kSuccess : static_cast<uint64_t>(result.error().kind) + 1);
  appendNumber(message, texts.size());
  for (const std::string &text : texts) {
    appendNumber(message, text.size());
    message += text;
  }
  return message;
}

class Unpacker {
public:
  explicit Unpacker(std::string_view message) : rest(message) {}

  std::optional<uint64_t> number() {
    uint64_t value = 0;
    if (rest.size() < sizeof(value))
      return std::nullopt;
    std::memcpy(&value, rest.data(), sizeof(value));
    rest.remove_prefix(sizeof(value));
    return value;
  }
  std::optional<std::string> text() {
    std::optional<uint64_t> size = number();
    if (!size || *size > rest.size())
      return std::nullopt;
    std::string value(rest.substr(0, *size));
    rest.remove_prefix(*size);
    return value;
  }

private:
  std::string_view rest;
};

/// Nothing if the message is not whole: the child fell before it had sent it.
std::optional<Result<Texts>> unpack(std::string_view message) {
  Unpacker unpacker(message);
  std::optional<uint64_t> kind = unpacker.number();
  std::optional<uint64_t> count = unpacker.number();
  if (!kind || !count || *kind > static_cast<uint64_t>(ErrorKind::Internal) + 1)
    return std::nullopt;
  Texts texts;
  for (uint64_t i = 0; i < *count; ++i) {
    std::optional<std::string> text = unpacker.text();
    if (!text)
      return std::nullopt;
    texts.push_back(*std::move(text));
  }
  if (*kind == kSuccess)
    return Result<Texts>(std::move(texts));
  if (texts.empty())
    return std::nullopt;
  Error error(static_cast<ErrorKind>(*kind - 1), std::move(texts.front()));
  error.notes.assign(texts.begin() + 1, texts.end());
  return Result<Texts>(std::move(error));
}

Result<Texts> runHere(const Work &work) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return ioError("out of memory");
  } catch (const std::exception &failure) {
    return internalError(failure.what());
  }
}

/// Never more than the process may take already.
void limitResource(__rlimit_resource_t resource, rlim_t most) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur <= most)
    return;
  limit.rlim_cur = most;
  ::setrlimit(resource, &limit);
}

/// The size of this process's address space, 0 if unknown.
uint64_t addressSpace() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// What the caller's process does on signals is not for the child: it ends, without a word and without a core.
void forgetCaller() {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPIPE})
    ::signal(number, SIG_DFL);
  ::signal(SIGXFSZ, SIG_IGN); // a file that must not grow is an error of writing
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void applyLimits(const IsolationLimits &limits) {
  limitResource(RLIMIT_CORE, 0);
  limitResource(RLIMIT_CPU, limits.seconds);
  if (uint64_t now = addressSpace())
    limitResource(RLIMIT_AS, now + limits.bytes);
}

/// Whether this is a child that runs isolated work.
bool isChild = false;

/// The child ends with the thread that waits for it.
void followCaller(pid_t caller) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != caller)
    ::_exit(1); // it has ended already
}

[[noreturn]] void runChild(pid_t caller, int descriptor, const LastWords &words, const Result<ScratchFolder> &scratch,
                           const IsolationLimits &limits, const Work &work) {
  isChild = true;
  followCaller(caller);
  words.capture();
  if (scratch)
    ScratchFolder::setParent(scratch->path());
  forgetCaller();
  applyLimits(limits);
  const bool isSent = writeAll(descriptor, pack(runHere(work)));
  ::_exit(isSent ? 0 : 1);
}

/// The signal that ended the child, 0 for none or if unknown.
int awaitEnd(pid_t child) {
  int status = 0;
  pid_t ended = 0;
  do
    ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  // Whoever collects all children of this process may have been first.
  return ended == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

Error endError(const std::string &failure, int number, const std::string &said) {
  if (number == SIGINT || number == SIGTERM || number == SIGHUP)
    return ioError("interrupted while an asset was read or compiled");
  if (number == SIGKILL)
    return ioError("the process that read or compiled an asset was killed; there may not be enough memory");
  if (said.find("out of memory") != std::string::npos || said.find("bad_alloc") != std::string::npos)
    return corruptError(failure).note("it asks for more memory than a program of its size may take");
  std::string end = "the process that did it ended ";
  end += number ? "with signal " + std::to_string(number) : "early";
  if (!said.empty())
    end += ": " + said.substr(0, std::min(said.find('\n'), size_t(500)));
  return corruptError(failure).note(std::move(end));
}

} // namespace

TighterMemory::TighterMemory(uint64_t bytes) {
  rlimit limit{};
  const uint64_t now = addressSpace();
  if (!isChild || now == 0 || ::getrlimit(RLIMIT_AS, &limit) != 0)
    return;
  before = limit.rlim_cur;
  limitResource(RLIMIT_AS, now + bytes);
}

TighterMemory::~TighterMemory() {
  rlimit limit{};
  if (before == 0 || ::getrlimit(RLIMIT_AS, &limit) != 0)
    return;
  limit.rlim_cur = before;
  ::setrlimit(RLIMIT_AS, &limit);
}

IsolationHold::IsolationHold() { Gate::get().enter(); }
IsolationHold::~IsolationHold() { Gate::get().leave(); }

Result<Texts> ingot::runIsolated(const std::string &failure, const IsolationLimits &limits, const Work &work) {
  const char *setting = std::getenv("INGOT_ISOLATE");
  if (setting && std::string_view(setting) == "0")
    return runHere(work);
  Pipe pipe;
  if (::pipe2(pipe.ends, O_CLOEXEC) != 0)
    return errnoError("cannot make a pipe");
  LastWords words;
  // The child's temporary files: whatever ends it, they are removed here. Without it, whoever needs a file will say so.
  const Result<ScratchFolder> scratch = ScratchFolder::make();
  const pid_t caller = ::getpid();
  const pid_t child = Gate::get().forkWhenIdle();
  if (child == 0)
    runChild(caller, pipe.ends[1], words, scratch, limits, work);
  if (child < 0)
    return errnoError("cannot start a process");
  pipe.close(1);
  std::optional<Result<Texts>> result = unpack(readAll(pipe.ends[0]));
  const int number = awaitEnd(child);
  const std::string said = words.text();
  if (!result)
    return endError(failure, number, said);
  (void)writeAll(STDERR_FILENO, said);
  return *std::move(result);
}
