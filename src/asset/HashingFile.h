// A new file that is hashed while it is written.
#pragma once

#include "asset/Format.h"

#include <cstddef>
#include <span>
#include <string>

namespace ingot::asset {

class HashingFile {
public:
  /// `path` must not exist.
  static Result<HashingFile> create(const std::string &path);
  ~HashingFile();
  HashingFile(HashingFile &&other) noexcept;
  HashingFile &operator=(HashingFile &&) = delete;

  Status write(std::span<const std::byte> bytes);
  uint64_t size() const { return written; }
  Result<FileInfo> finish();

private:
  HashingFile(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}
  Status writeAll(std::span<const std::byte> bytes);

  std::string path;
  int descriptor;
  uint64_t written = 0;
  Hasher hasher;
};

/// A file in one go.
Result<FileInfo> writeHashed(const std::string &path, std::span<const std::byte> bytes);

/// The hash of a mapped file's bytes. Pages of large ones are given back as they have been read: whoever needs them reads
/// them again, and many are never needed.
Hash128 hashMapped(std::span<const std::byte> bytes);

} // namespace ingot::asset
