// Files and directories that appear complete or not at all, even if the process dies meanwhile.
#pragma once

#include "base/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

/// Writes to a temporary sibling; `commit` makes it durable and moves it into place. Without a
/// commit nothing remains.
class AtomicFile {
public:
  static Result<AtomicFile> create(const std::string &path);
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

  std::string target, temporary;
  int descriptor = -1;
  uint64_t written = 0;
};

Status writeFileAtomically(const std::string &path, std::span<const std::byte> bytes);
Status writeFileAtomically(const std::string &path, std::string_view text);

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
