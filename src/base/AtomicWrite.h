// Files and directories that appear complete or not at all, even if the process dies meanwhile.
#pragma once

#include "base/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// Writes to a temporary sibling; `commit` makes it durable and moves it into place. Without a
/// commit nothing remains.
class AtomicFile {
public:
  /// Follow: a link, a device or a pipe at `path` is where the user wants it to go. Replace: somebody else may have put it there, and
  /// nobody else may write to the new file.
  enum class Links { Replace, Follow };

  static Result<AtomicFile> create(const std::string &path, Links links = Links::Replace);
  ~AtomicFile();
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);
  uint64_t bytesWritten() const { return written; }
  /// Replaces an existing file.
  Status commit();

private:
  AtomicFile() = default;
  Status send(std::span<const std::byte> bytes);

  std::string target, temporary;
  int descriptor = -1;
  uint64_t written = 0;
  std::vector<std::byte> pending; ///< what has not been sent, less than a large page
  bool isInPlace = false;         ///< `descriptor` is a device or a pipe
};

Status writeFileAtomically(const std::string &path, std::span<const std::byte> bytes,
                           AtomicFile::Links links = AtomicFile::Links::Replace);
Status writeFileAtomically(const std::string &path, std::string_view text,
                           AtomicFile::Links links = AtomicFile::Links::Replace);

/// Likewise for a whole directory: fill `path()`, then commit.
class AtomicDirectory {
public:
  static Result<AtomicDirectory> create(const std::string &path);
  ~AtomicDirectory();
  AtomicDirectory(AtomicDirectory &&other) noexcept;
  AtomicDirectory &operator=(AtomicDirectory &&) = delete;

  /// The temporary directory to write into.
  const std::string &path() const { return temporary; }
  /// Replaces an existing directory, in one step, and removes the old one.
  Status commit();

private:
  AtomicDirectory() = default;

  std::string target, temporary;
};

} // namespace ingot
