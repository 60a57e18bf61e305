#include "base/MappedFile.h"

#include <cerrno>
#include <fcntl.h>
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
} // namespace

Result<std::shared_ptr<MappedFile>> MappedFile::open(const std::string &path, Access access) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
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
  // mmap refuses empty ranges; an empty file is simply an empty span.
  if (info.st_size == 0)
    return mapped;
  int protection = access == Access::CopyOnWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  void *address = ::mmap(nullptr, static_cast<size_t>(info.st_size), protection, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED)
    return errnoError("cannot map '" + path + "'");
  mapped->start = static_cast<std::byte *>(address);
  mapped->length = static_cast<size_t>(info.st_size);
  return mapped;
}

MappedFile::~MappedFile() {
  if (start)
    ::munmap(start, length);
}

std::span<std::byte> MappedFile::mutableBytes() {
  assert(access == Access::CopyOnWrite && "pages are read-only");
  return {start, length};
}
