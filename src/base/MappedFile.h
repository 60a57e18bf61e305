// A whole file in memory, mapped rather than read.
#pragma once

#include "base/Result.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace ingot {

class MappedFile {
public:
  enum class Access {
    ReadOnly,
    CopyOnWrite, ///< pages may be changed; changes are private to the process
  };

  /// Opens a regular file. Errors carry the path and the operating system's words.
  static Result<std::shared_ptr<MappedFile>> open(const std::string &path, Access access = Access::ReadOnly);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  std::span<const std::byte> bytes() const { return {start, length}; }
  /// Only for CopyOnWrite.
  std::span<std::byte> mutableBytes();
  const std::string &path() const { return filePath; }
  /// Tells whether a file is the same as one that was opened before, and unchanged: device, number, size and times.
  const std::string &identity() const { return fileIdentity; }
  /// When its bytes or its properties changed, since 1970.
  std::chrono::nanoseconds lastChange() const { return changed; }

  /// Gives memory of read-only files back to the system, which reads it again when somebody looks at it. Memory of other
  /// kinds stays as it is.
  static void releasePages(const void *data, size_t bytes);

private:
  MappedFile() = default;

  std::string filePath, fileIdentity;
  std::chrono::nanoseconds changed{};
  std::byte *start = nullptr;
  size_t length = 0;
  Access access = Access::ReadOnly;
};

/// "cannot open 'x': No such file or directory", from the current errno.
Error errnoError(const std::string &what);

} // namespace ingot
