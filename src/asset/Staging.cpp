#include "asset/Staging.h"

#include "base/MappedFile.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace ingot;
using namespace ingot::asset;
namespace fs = std::filesystem;

namespace {

/// The target's folder and the prefixes of hidden siblings that belong to it.
struct Siblings {
  std::string folder, temporaryPrefix, asidePrefix;

  explicit Siblings(const std::string &target) {
    fs::path path(target);
    folder = path.has_parent_path() ? path.parent_path().string() : ".";
    temporaryPrefix = "." + path.filename().string() + ".tmp-";
    asidePrefix = "." + path.filename().string() + ".old-";
  }
  std::string make(const std::string &prefix) const {
    static constexpr char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::random_device random;
    std::string name = folder + "/" + prefix;
    for (int i = 0; i < 8; ++i)
      name += letters[random() % 36];
    return name;
  }
};

bool exists(const std::string &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

/// Opens and locks a directory; -1 if it is gone or another process has it.
int lockDirectory(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0)
    return -1;
  struct stat opened, named;
  // Between opening and locking, somebody else's clean-up may have removed it.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &opened) == 0 &&
      ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino)
    return descriptor;
  ::close(descriptor);
  return -1;
}

void removeTree(const std::string &path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

/// Removes what saves to `target` left behind when their process died. Best effort.
void cleanLeftovers(const std::string &target) {
  Siblings siblings(target);
  std::error_code failure;
  std::vector<std::string> temporaries, asides;
  for (fs::directory_iterator item(siblings.folder, failure), end; !failure && item != end; item.increment(failure)) {
    std::string name = item->path().filename().string();
    if (name.starts_with(siblings.temporaryPrefix))
      temporaries.push_back(item->path().string());
    else if (name.starts_with(siblings.asidePrefix))
      asides.push_back(item->path().string());
  }
  for (const std::string &aside : asides) {
    int lock = lockDirectory(aside);
    if (lock < 0)
      continue;
    // Without the target, the old directory is the only whole one there is.
    if (exists(target) || ::rename(aside.c_str(), target.c_str()) != 0)
      removeTree(aside);
    ::close(lock);
  }
  for (const std::string &temporary : temporaries) {
    int lock = lockDirectory(temporary);
    if (lock < 0)
      continue;
    removeTree(temporary);
    ::close(lock);
  }
}

Status syncPath(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return errnoError("cannot open '" + path + "'");
  int code = ::fsync(descriptor);
  int reason = std::exchange(errno, 0);
  ::close(descriptor);
  errno = reason;
  // Some file systems cannot sync directories and say so with EINVAL.
  if (code != 0 && reason != EINVAL)
    return errnoError("cannot force '" + path + "' to disk");
  return {};
}

Status syncTree(const std::string &folder) {
  std::error_code failure;
  for (fs::recursive_directory_iterator item(folder, failure), end; !failure && item != end; item.increment(failure))
    INGOT_CHECK(syncPath(item->path().string()));
  if (failure)
    return ioError("cannot read '" + folder + "': " + failure.message());
  return syncPath(folder);
}

Error moveError(const std::string &from, const std::string &to) {
  return errnoError("cannot move '" + from + "' to '" + to + "'");
}

bool lacksFlag(int code) { return code == EINVAL || code == ENOSYS || code == ENOTSUP; }

/// Moves without ever replacing something.
Status moveToNew(const std::string &from, const std::string &to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return {};
  // Without the flag, rename may replace an empty directory; asking first narrows that to a race.
  if (lacksFlag(errno) && !exists(to) && ::rename(from.c_str(), to.c_str()) == 0)
    return {};
  if (errno == EEXIST || errno == ENOTEMPTY || exists(to))
    return usageError("'" + to + "' already exists");
  return moveError(from, to);
}

} // namespace

std::string asset::resolveTarget(const std::string &path) {
  std::string target = path;
  while (target.size() > 1 && target.back() == '/')
    target.pop_back();
  std::error_code failure;
  if (fs::is_symlink(target, failure))
    if (fs::path real = fs::weakly_canonical(target, failure); !failure)
      return real.string();
  return target;
}

std::string asset::findSetAside(const std::string &target) {
  Siblings siblings(target);
  std::error_code failure;
  for (fs::directory_iterator item(siblings.folder, failure), end; !failure && item != end; item.increment(failure))
    if (item->path().filename().string().starts_with(siblings.asidePrefix))
      return item->path().string();
  return {};
}

Result<Staging> Staging::create(const std::string &target, Links links) {
  Staging staging;
  staging.finalPath = links == Links::Follow ? resolveTarget(target) : target;
  cleanLeftovers(staging.finalPath);
  Siblings siblings(staging.finalPath);
  for (int attempt = 0; attempt < 16; ++attempt) {
    std::string folder = siblings.make(siblings.temporaryPrefix);
    if (::mkdir(folder.c_str(), 0777) != 0) {
      if (errno == EEXIST)
        continue;
      return errnoError("cannot create '" + staging.finalPath + "'");
    }
    staging.lock = lockDirectory(folder);
    if (staging.lock >= 0) {
      staging.temporary = std::move(folder);
      return staging;
    }
  }
  return ioError("cannot create a temporary folder beside '" + staging.finalPath + "'");
}

Staging::Staging(Staging &&other) noexcept
    : finalPath(std::move(other.finalPath)), temporary(std::exchange(other.temporary, {})),
      lock(std::exchange(other.lock, -1)) {}

Staging::~Staging() {
  if (!temporary.empty())
    removeTree(temporary);
  if (lock >= 0)
    ::close(lock);
}

Status Staging::publish(Existing existing) {
  if (existing == Existing::Refuse || !exists(finalPath))
    INGOT_CHECK(moveToNew(temporary, finalPath));
  else
    INGOT_CHECK(replace());
  temporary.clear();
  return {};
}

Status Staging::replace() {
  INGOT_CHECK(syncTree(temporary));
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, finalPath.c_str(), RENAME_EXCHANGE) != 0)
    return lacksFlag(errno) ? replaceInTwoSteps() : Status(moveError(temporary, finalPath));
  INGOT_CHECK(syncPath(Siblings(finalPath).folder)); // before the old one goes
  removeTree(temporary);                             // now the old directory
  return {};
}

/// Between the two renames there is no target; the next save, or the reader's message, finds the old one.
Status Staging::replaceInTwoSteps() {
  Siblings siblings(finalPath);
  std::string aside = siblings.make(siblings.asidePrefix);
  int asideLock = lockDirectory(finalPath);
  Status moved = ::rename(finalPath.c_str(), aside.c_str()) == 0 ? Status() : Status(moveError(finalPath, aside));
  if (moved)
    moved = moveToNew(temporary, finalPath);
  if (moved)
    removeTree(aside);
  else if (exists(aside))
    (void)::rename(aside.c_str(), finalPath.c_str());
  if (asideLock >= 0)
    ::close(asideLock);
  return moved;
}
