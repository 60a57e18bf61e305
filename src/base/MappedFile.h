// A whole file in memory, mapped rather than read.
#pragma once

#include "base/Result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ingot {

/// What a CPU maps by one entry of its tables, if it lies together in memory.
inline constexpr size_t kLargePage = size_t(1) << 21;

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

  /// What is on large pages in the system's memory is mapped as such: it comes into the process and leaves it within
  /// microseconds for each, but a look at a byte brings all of its page. File systems that know large pages use them for what was written in
  /// such pieces (AtomicFile does), and for what is read through the mapping from now on.
  void preferLargePages() const;
  /// Brings these bytes into the process, all at once.
  void fetch(std::span<const std::byte> bytes) const;
  /// Whether nearly all of these bytes are in the process, on large pages. Systems that cannot tell say no.
  bool isOnLargePages(std::span<const std::byte> bytes) const;
  /// Gives all large pages that hold some of these bytes back to the system, which still has them in its memory.
  void release(std::span<const std::byte> bytes) const;

private:
  MappedFile() = default;
  std::span<std::byte> largePagesOf(std::span<const std::byte> bytes) const;

  std::string filePath, fileIdentity;
  std::chrono::nanoseconds changed{};
  std::byte *start = nullptr;
  size_t length = 0;
  Access access = Access::ReadOnly;
};

/// Reads parts of a mapped file without looking at the mapping: a look may bring a megabyte around it into the process, which adds up where
/// few rows of a large table are wanted.
class PartReader {
public:
  /// Null where these bytes are not those of a read-only MappedFile, or where its file cannot be opened any more. The
  /// MappedFile must outlive the reader.
  static std::shared_ptr<const PartReader> of(const void *data, size_t bytes);
  ~PartReader();
  PartReader(const PartReader &) = delete;
  PartReader &operator=(const PartReader &) = delete;

  /// False when somebody closed our descriptor, as services do that go to the background. Ask before a row of reads.
  bool isOpen() const;
  /// Copies what the mapping shows at `from`.
  void read(void *to, const void *from, size_t bytes) const;

private:
  PartReader(int descriptor, const std::byte *start) : descriptor(descriptor), start(start) {}

  int descriptor;
  const std::byte *start;
  uint64_t device = 0, number = 0; ///< of the file
};

/// "cannot open 'x': No such file or directory", from the current errno.
Error errnoError(const std::string &what);

} // namespace ingot
