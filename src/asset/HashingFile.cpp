#include "asset/HashingFile.h"

#include "base/MappedFile.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

using namespace ingot;
using namespace ingot::asset;

Result<HashingFile> HashingFile::create(const std::string &path) {
  // Whatever the umask says: files of a cache that the group may write are not used, and nobody changes other ones.
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return errnoError("cannot create '" + path + "'");
  return HashingFile(path, descriptor);
}

HashingFile::HashingFile(HashingFile &&other) noexcept
    : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)), written(other.written),
      hasher(std::move(other.hasher)) {}

HashingFile::~HashingFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status HashingFile::write(std::span<const std::byte> bytes) {
  // Small enough to be in the cache still when the kernel copies what was just hashed.
  constexpr size_t pieceSize = size_t(512) << 10;
  while (!bytes.empty()) {
    std::span<const std::byte> piece = bytes.first(std::min(pieceSize, bytes.size()));
    hasher.add(piece);
    INGOT_CHECK(writeAll(piece));
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

Status HashingFile::writeAll(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errnoError("cannot write '" + path + "'");
    bytes = bytes.subspan(static_cast<size_t>(count));
    written += static_cast<uint64_t>(count);
  }
  return {};
}

Result<FileInfo> HashingFile::finish() {
  if (::close(std::exchange(descriptor, -1)) != 0)
    return errnoError("cannot write '" + path + "'");
  return FileInfo{written, hasher.finish()};
}

Result<FileInfo> asset::writeHashed(const std::string &path, std::span<const std::byte> bytes) {
  INGOT_TRY(HashingFile file, HashingFile::create(path));
  INGOT_CHECK(file.write(bytes));
  return file.finish();
}

Hash128 asset::hashMapped(std::span<const std::byte> bytes) {
  constexpr size_t piece = size_t(4) << 20;
  const bool isLarge = bytes.size() > piece;
  Hasher hasher;
  while (!bytes.empty()) {
    const std::span<const std::byte> next = bytes.first(std::min(piece, bytes.size()));
    hasher.add(next);
    if (isLarge)
      MappedFile::releasePages(next.data(), next.size());
    bytes = bytes.subspan(next.size());
  }
  return hasher.finish();
}
