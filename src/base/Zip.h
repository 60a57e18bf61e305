// Reads ZIP archives that are already in memory. Nothing in the file is trusted.
#pragma once

#include "base/Result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

class MappedFile;

class Zip {
public:
  struct Entry {
    std::string name;
    uint16_t method = 0; ///< 0 stored, 8 deflated
    uint32_t crc = 0;
    uint64_t compressedSize = 0;
    uint64_t size = 0;
    uint64_t headerOffset = 0; ///< of the local header
    uint64_t dataOffset = 0;

    bool isStored() const { return method == 0; }
  };

  /// Inflating more than this, at once or all entries together, is refused: a small file must not eat the memory.
  static constexpr uint64_t defaultInflateLimit = uint64_t(4) << 30;

  static Result<Zip> open(std::shared_ptr<const MappedFile> file);
  /// `bytes` must outlive the Zip.
  static Result<Zip> parse(std::span<const std::byte> bytes);

  /// In the order of the central directory, which is the order of writing.
  const std::vector<Entry> &entries() const { return list; }
  const Entry *find(std::string_view name) const;

  /// The bytes of a stored entry, in place.
  std::span<const std::byte> stored(const Entry &entry) const;
  /// A copy of an entry's content, inflated if need be and checked against its CRC.
  Result<std::vector<std::byte>> read(const Entry &entry, uint64_t limit = defaultInflateLimit) const;
  /// Refuses sizes that no honest archive has, before memory is set aside for them.
  Status checkSize(const Entry &entry, uint64_t limit = defaultInflateLimit) const;
  /// Inflates into `target`, whose size must be the entry's.
  Status readInto(const Entry &entry, std::span<std::byte> target) const;
  /// Compares a stored entry with its CRC.
  Status verify(const Entry &entry) const;

private:
  std::span<const std::byte> bytes;
  std::shared_ptr<const MappedFile> file;
  std::vector<Entry> list;
  std::map<std::string, size_t, std::less<>> byName;
};

} // namespace ingot
