#include "base/MappedFile.h"

#include "base/ForkSafeMutex.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

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

struct Mapping {
  size_t length;
  const MappedFile *file;
  std::weak_ptr<const PartReader> reader; ///< one for all who read parts
};

/// The read-only mappings of this process, by their first byte.
struct Mappings {
  ForkSafeMutex mutex;
  std::map<const std::byte *, Mapping> ranges;

  static Mappings &all() {
    static auto *mappings = new Mappings; // outlives files that static objects own
    return *mappings;
  }
  /// The mapping that holds these bytes, or null. Called with the mutex held.
  Mapping *find(const std::byte *data, size_t bytes) {
    auto next = ranges.upper_bound(data);
    if (next == ranges.begin())
      return nullptr;
    auto &[start, mapping] = *std::prev(next);
    const auto offset = static_cast<size_t>(data - start);
    return offset <= mapping.length && bytes <= mapping.length - offset ? &mapping : nullptr;
  }
};

// Of newer kernels than these headers may be from: madvise's MADV_POPULATE_READ (5.14), and the ioctl PAGEMAP_SCAN (6.7). Older
// ones refuse both.
constexpr int kPopulateRead = 22;
struct PageRegion {
  uint64_t start, end, categories;
};
struct PageScan {
  uint64_t size, flags, start, end, walkEnd, regions, regionCount, maxPages, inverted, wanted, wantedAny, told;
};
constexpr unsigned long kScanPages = _IOWR('f', 16, PageScan);
constexpr uint64_t kIsHugePage = 1 << 6;

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
    Mappings::all().ranges.emplace(mapped->start, Mapping{mapped->length, mapped.get(), {}});
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
  if (begin < end && Mappings::all().find(static_cast<const std::byte *>(data), bytes))
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

void MappedFile::preferLargePages() const {
  if (start)
    ::madvise(start, length, MADV_HUGEPAGE);
}

/// Never beyond the mapping: what lies there is somebody else's.
std::span<std::byte> MappedFile::largePagesOf(std::span<const std::byte> bytes) const {
  const auto first = reinterpret_cast<uintptr_t>(start), last = first + length;
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data()), end = begin + bytes.size();
  assert(first <= begin && end <= last && "bytes of another mapping");
  const uintptr_t from = std::max(first, begin / kLargePage * kLargePage);
  const uintptr_t to = std::min(last, (end + kLargePage - 1) / kLargePage * kLargePage);
  return {start + (from - first), to - from};
}

void MappedFile::fetch(std::span<const std::byte> bytes) const {
  const std::span<std::byte> pages = largePagesOf(bytes);
  ::madvise(pages.data(), pages.size(), kPopulateRead);
}

void MappedFile::release(std::span<const std::byte> bytes) const {
  const std::span<std::byte> pages = largePagesOf(bytes);
  ::madvise(pages.data(), pages.size(), MADV_DONTNEED);
}

bool MappedFile::isOnLargePages(std::span<const std::byte> bytes) const {
  const Descriptor pagemap{::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
  const std::span<std::byte> pages = largePagesOf(bytes);
  std::array<PageRegion, 64> found;
  PageScan scan = {};
  scan.size = sizeof(scan);
  scan.start = reinterpret_cast<uintptr_t>(pages.data());
  scan.end = scan.start + pages.size();
  scan.regions = reinterpret_cast<uintptr_t>(found.data());
  scan.regionCount = found.size();
  scan.wanted = scan.told = kIsHugePage;
  const int count = pagemap.fd < 0 ? -1 : ::ioctl(pagemap.fd, kScanPages, &scan);
  size_t large = 0;
  for (int i = 0; i < count; ++i)
    large += found[static_cast<size_t>(i)].end - found[static_cast<size_t>(i)].start;
  // The end of a file has no large page.
  return count > 0 && large + kLargePage >= pages.size();
}

std::span<std::byte> MappedFile::mutableBytes() {
  assert(access == Access::CopyOnWrite && "pages are read-only");
  return {start, length};
}

std::shared_ptr<const PartReader> PartReader::of(const void *data, size_t bytes) {
  std::lock_guard lock(Mappings::all().mutex);
  Mapping *mapping = Mappings::all().find(static_cast<const std::byte *>(data), bytes);
  if (!mapping)
    return nullptr;
  if (auto reader = mapping->reader.lock())
    return reader;
  Descriptor opened{::open(mapping->file->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info;
  if (opened.fd < 0 || ::fstat(opened.fd, &info) != 0 || identityOf(info) != mapping->file->identity())
    return nullptr;
  std::shared_ptr<PartReader> reader(new PartReader(std::exchange(opened.fd, -1), mapping->file->bytes().data()));
  reader->device = info.st_dev;
  reader->number = info.st_ino;
  mapping->reader = reader;
  return reader;
}

PartReader::~PartReader() {
  // The number may be somebody else's by now.
  if (isOpen())
    ::close(descriptor);
}

bool PartReader::isOpen() const {
  struct stat info;
  return ::fstat(descriptor, &info) == 0 && info.st_dev == device && info.st_ino == number;
}

void PartReader::read(void *to, const void *from, size_t bytes) const {
  const off_t offset = static_cast<const std::byte *>(from) - start;
  if (::pread(descriptor, to, bytes, offset) != static_cast<ssize_t>(bytes))
    std::memcpy(to, from, bytes);
}
