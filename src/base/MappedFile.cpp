#include "base/MappedFile.h"

#include "base/ForkSafeMutex.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

using namespace ingot;

Error ingot::errnoError(const std::string &what) {
  return ioError(what + ": " + std::generic_category().message(errno));
}

namespace {
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

/// The read-only mappings of this process: first byte and length.
struct Mappings {
  ForkSafeMutex mutex;
  std::map<const std::byte *, size_t> ranges;

  static Mappings &all() {
    static auto *mappings = new Mappings; // outlives files that static objects own
    return *mappings;
  }
  /// Called with the mutex held.
  bool holds(const std::byte *data, size_t bytes) const {
    auto next = ranges.upper_bound(data);
    if (next == ranges.begin())
      return false;
    const auto &[start, length] = *std::prev(next);
    const auto offset = static_cast<size_t>(data - start);
    return offset <= length && bytes <= length - offset;
  }
};

std::chrono::nanoseconds sinceEpoch(const timespec &time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string identityOf(const struct stat &info) {
  std::string text;
  for (const auto number :
       {static_cast<int64_t>(info.st_dev), static_cast<int64_t>(info.st_ino), static_cast<int64_t>(info.st_size),
        static_cast<int64_t>(sinceEpoch(info.st_mtim).count()), static_cast<int64_t>(sinceEpoch(info.st_ctim).count())})
    text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}
} // namespace

Result<std::shared_ptr<MappedFile>> MappedFile::open(const std::string &path, Access access) {
  // Without O_NONBLOCK a pipe would keep us until somebody writes to it; plain files know no difference.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0)
    return errnoError("cannot open '" + path + "'");
  struct stat info;
  if (::fstat(file.fd, &info) != 0)
    return errnoError("cannot stat '" + path + "'");
  if (!S_ISREG(info.st_mode))
    return ioError("cannot read '" + path + "': not a regular file");

  std::shared_ptr<MappedFile> mapped(new MappedFile());
  mapped->filePath = path;
  mapped->access = access;
  mapped->fileIdentity = identityOf(info);
  mapped->changed = std::max(sinceEpoch(info.st_mtim), sinceEpoch(info.st_ctim));
  // mmap refuses empty ranges; an empty file is simply an empty span.
  if (info.st_size == 0)
    return mapped;
  int protection = access == Access::CopyOnWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  void *address = ::mmap(nullptr, static_cast<size_t>(info.st_size), protection, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED)
    return errnoError("cannot map '" + path + "'");
  mapped->start = static_cast<std::byte *>(address);
  mapped->length = static_cast<size_t>(info.st_size);
  if (access == Access::ReadOnly) {
    // A small tensor that is read would keep a large page of its neighbours.
    ::madvise(address, mapped->length, MADV_NOHUGEPAGE);
    std::lock_guard lock(Mappings::all().mutex);
    Mappings::all().ranges.emplace(mapped->start, mapped->length);
  }
  return mapped;
}

MappedFile::~MappedFile() {
  if (!start)
    return;
  {
    std::lock_guard lock(Mappings::all().mutex);
    Mappings::all().ranges.erase(start);
  }
  ::munmap(start, length);
}

void MappedFile::releasePages(const void *data, size_t bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  // Pages that belong to a neighbour, too, stay.
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) / page * page;
  std::lock_guard lock(Mappings::all().mutex);
  if (begin < end && Mappings::all().holds(static_cast<const std::byte *>(data), bytes))
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

std::span<std::byte> MappedFile::mutableBytes() {
  assert(access == Access::CopyOnWrite && "pages are read-only");
  return {start, length};
}
