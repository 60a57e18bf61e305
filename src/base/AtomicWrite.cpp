#include "base/AtomicWrite.h"

#include "base/MappedFile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace ingot;
namespace fs = std::filesystem;

namespace {

/// A sibling, so that the final rename stays inside one file system. The counter separates threads, the process id
/// processes, and the rest those that had the same id: one that was killed may have left its file.
std::string temporaryName(const std::string &path) {
  static std::atomic<unsigned> counter = 0;
  std::string stem = path;
  while (stem.size() > 1 && stem.back() == '/')
    stem.pop_back();
  return stem + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter++) + "." +
         std::to_string(std::random_device()());
}

std::string pathOf(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// A file that has no name until it is complete, so that a process that is killed leaves nothing; -1 where there is no
/// such thing.
int openNameless(const std::string &folder, mode_t mode) {
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (descriptor < 0 || ::access(pathOf(descriptor).c_str(), F_OK) == 0)
    return descriptor;
  ::close(descriptor); // without /proc it could not get a name
  return -1;
}

std::string parentOf(const std::string &path) {
  fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

/// A rename survives a power cut only once the directory itself is on disk.
Status syncPath(const std::string &path, int flags) {
  int descriptor = ::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return errnoError("cannot open '" + path + "'");
  int code = ::fsync(descriptor);
  int reason = errno;
  ::close(descriptor);
  // Some file systems cannot sync directories and say so with EINVAL.
  if (code != 0 && reason != EINVAL) {
    errno = reason;
    return errnoError("cannot write '" + path + "' to disk");
  }
  return {};
}

Status syncTree(const std::string &root) {
  std::error_code failure;
  fs::recursive_directory_iterator item(root, failure), end;
  for (; !failure && item != end; item.increment(failure)) {
    fs::file_status status = item->symlink_status(failure);
    if (failure)
      break;
    if (fs::is_regular_file(status))
      INGOT_CHECK(syncPath(item->path().string(), 0));
    else if (fs::is_directory(status))
      INGOT_CHECK(syncPath(item->path().string(), O_DIRECTORY));
  }
  if (failure)
    return ioError("cannot read '" + root + "': " + failure.message());
  return syncPath(root, O_DIRECTORY);
}

/// Moves `from` to `to`; an existing `to` ends up at `from`.
Status swapIntoPlace(const std::string &from, const std::string &to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
    return {};
  if (errno != ENOENT && errno != EINVAL && errno != ENOSYS)
    return errnoError("cannot move '" + from + "' to '" + to + "'");
  // Nothing to exchange with, or a file system that cannot exchange: then only an empty directory
  // is replaced, and rename says so otherwise.
  if (::rename(from.c_str(), to.c_str()) != 0)
    return errnoError("cannot move '" + from + "' to '" + to + "'");
  return {};
}

} // namespace

Result<AtomicFile> AtomicFile::create(const std::string &path, Links links) {
  AtomicFile file;
  file.target = path;
  const bool follows = links == Links::Follow;
  const mode_t mode = follows ? 0666 : 0644;
  struct stat existing;
  if (follows && ::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode) && !S_ISDIR(existing.st_mode)) {
    // A pipe that nobody reads would keep us.
    file.descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file.descriptor < 0 || ::fcntl(file.descriptor, F_SETFL, 0) != 0)
      return errnoError("cannot write '" + path + "'");
    file.isInPlace = true;
    return file;
  }
  if (char *followed = follows ? ::realpath(path.c_str(), nullptr) : nullptr) {
    file.target = followed;
    ::free(followed);
  }
  file.descriptor = openNameless(parentOf(file.target), mode);
  if (file.descriptor >= 0)
    return file;
  file.temporary = temporaryName(file.target);
  file.descriptor = ::open(file.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file.descriptor < 0) {
    Error failure = errnoError("cannot write '" + path + "'");
    file.temporary.clear();
    return failure;
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : target(std::move(other.target)), temporary(std::exchange(other.temporary, {})),
      descriptor(std::exchange(other.descriptor, -1)), written(other.written), pending(std::move(other.pending)),
      isInPlace(other.isInPlace) {}

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

/// Whole large pages are sent at once: file systems keep what was written like that on such pages, which are mapped within
/// microseconds (MappedFile::preferLargePages).
Status AtomicFile::write(std::span<const std::byte> bytes) {
  written += bytes.size();
  while (!bytes.empty()) {
    if (const size_t whole = bytes.size() / kLargePage * kLargePage; pending.empty() && whole > 0) {
      INGOT_CHECK(send(bytes.first(whole)));
      bytes = bytes.subspan(whole);
      continue;
    }
    const std::span<const std::byte> next = bytes.first(std::min(bytes.size(), kLargePage - pending.size()));
    pending.insert(pending.end(), next.begin(), next.end());
    bytes = bytes.subspan(next.size());
    if (pending.size() == kLargePage) {
      INGOT_CHECK(send(pending));
      pending.clear();
    }
  }
  return {};
}

Status AtomicFile::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errnoError("cannot write '" + target + "'");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status AtomicFile::write(std::string_view text) { return write(std::as_bytes(std::span(text.data(), text.size()))); }

Status AtomicFile::commit() {
  INGOT_CHECK(send(std::exchange(pending, {})));
  if (isInPlace)
    return ::close(std::exchange(descriptor, -1)) == 0 ? Status() : errnoError("cannot write '" + target + "'");
  if (::fsync(descriptor) != 0)
    return errnoError("cannot write '" + target + "' to disk");
  if (temporary.empty()) {
    std::string name = temporaryName(target);
    if (::linkat(AT_FDCWD, pathOf(descriptor).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return errnoError("cannot write '" + target + "'");
    temporary = std::move(name);
  }
  if (::close(std::exchange(descriptor, -1)) != 0)
    return errnoError("cannot write '" + target + "'");
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    return errnoError("cannot move '" + temporary + "' to '" + target + "'");
  temporary.clear();
  return syncPath(parentOf(target), O_DIRECTORY);
}

Status ingot::writeFileAtomically(const std::string &path, std::span<const std::byte> bytes, AtomicFile::Links links) {
  INGOT_TRY(AtomicFile file, AtomicFile::create(path, links));
  INGOT_CHECK(file.write(bytes));
  return file.commit();
}

Status ingot::writeFileAtomically(const std::string &path, std::string_view text, AtomicFile::Links links) {
  return writeFileAtomically(path, std::as_bytes(std::span(text.data(), text.size())), links);
}

Result<AtomicDirectory> AtomicDirectory::create(const std::string &path) {
  AtomicDirectory directory;
  directory.target = path;
  directory.temporary = temporaryName(path);
  if (::mkdir(directory.temporary.c_str(), 0777) != 0) {
    Error failure = errnoError("cannot create '" + path + "'");
    directory.temporary.clear();
    return failure;
  }
  return directory;
}

AtomicDirectory::AtomicDirectory(AtomicDirectory &&other) noexcept
    : target(std::move(other.target)), temporary(std::exchange(other.temporary, {})) {}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!temporary.empty())
    fs::remove_all(temporary, ignored);
}

Status AtomicDirectory::commit() {
  struct stat existing;
  if (::lstat(target.c_str(), &existing) == 0 && !S_ISDIR(existing.st_mode))
    return ioError("cannot replace '" + target + "': it exists and is not a directory");
  INGOT_CHECK(syncTree(temporary));
  INGOT_CHECK(swapIntoPlace(temporary, target));
  // After an exchange the old directory carries the temporary name.
  std::error_code ignored;
  fs::remove_all(std::exchange(temporary, {}), ignored);
  return syncPath(parentOf(target), O_DIRECTORY);
}
