#include "base/Zip.h"

#include "base/Bytes.h"
#include "base/MappedFile.h"

#include <algorithm>
#include <optional>
#include <zlib.h>

using namespace ingot;

namespace {

constexpr uint32_t localSignature = 0x04034b50;
constexpr uint32_t centralSignature = 0x02014b50;
constexpr uint32_t endSignature = 0x06054b50;
constexpr uint32_t end64Signature = 0x06064b50;
constexpr uint32_t locator64Signature = 0x07064b50;
constexpr size_t localSize = 30, centralSize = 46, endSize = 22, end64Size = 56, locator64Size = 20;
constexpr uint32_t saturated32 = 0xffffffff;

struct Directory {
  uint64_t count = 0, size = 0, offset = 0;
};

using Bytes = std::span<const std::byte>;

/// The record at the very end; scanned backwards because payloads may hold nested archives.
std::optional<size_t> findEnd(Bytes bytes) {
  if (bytes.size() < endSize)
    return std::nullopt;
  size_t last = bytes.size() - endSize;
  size_t first = last > 0xffff ? last - 0xffff : 0;
  for (size_t at = last + 1; at-- > first;) {
    if (loadLittle<uint32_t>(bytes, at) != endSignature)
      continue;
    // A signature inside the comment does not end the file exactly.
    if (at + endSize + loadLittle<uint16_t>(bytes, at + 20) == bytes.size())
      return at;
  }
  return std::nullopt;
}

Result<Directory> readDirectory64(Bytes bytes, size_t end) {
  if (end < locator64Size || loadLittle<uint32_t>(bytes, end - locator64Size) != locator64Signature)
    return corruptError("zip: the 64-bit end record has no locator");
  uint64_t at = loadLittle<uint64_t>(bytes, end - locator64Size + 8);
  if (!fitsIn(at, end64Size, bytes.size()) || loadLittle<uint32_t>(bytes, at) != end64Signature)
    return corruptError("zip: the 64-bit end record is not where its locator says");
  return Directory{loadLittle<uint64_t>(bytes, at + 32), loadLittle<uint64_t>(bytes, at + 40),
                   loadLittle<uint64_t>(bytes, at + 48)};
}

Result<Directory> readDirectory(Bytes bytes) {
  std::optional<size_t> end = findEnd(bytes);
  if (!end)
    return corruptError("zip: no end record; the file is truncated or not a zip archive");
  Directory directory{loadLittle<uint16_t>(bytes, *end + 10), loadLittle<uint32_t>(bytes, *end + 12),
                      loadLittle<uint32_t>(bytes, *end + 16)};
  if (directory.count == 0xffff || directory.size == saturated32 || directory.offset == saturated32) {
    INGOT_TRY(directory, readDirectory64(bytes, *end));
  }
  if (!fitsIn(directory.offset, directory.size, *end))
    return corruptError("zip: the central directory lies outside the file; it may be truncated");
  if (directory.count > directory.size / centralSize)
    return corruptError("zip: the central directory is too small for its entries");
  return directory;
}

/// Replaces saturated fields by those of the zip64 extra field, which holds only these, in order.
Status applyZip64(Bytes extra, Zip::Entry &entry) {
  size_t at = 0;
  while (extra.size() - at >= 4) {
    uint16_t id = loadLittle<uint16_t>(extra, at);
    size_t length = loadLittle<uint16_t>(extra, at + 2);
    at += 4;
    if (!fitsIn(at, length, extra.size()))
      return corruptError("zip: extra field of '" + entry.name + "' is cut off");
    if (id == 1) {
      size_t next = at;
      for (uint64_t *field : {&entry.size, &entry.compressedSize, &entry.headerOffset}) {
        if (*field != saturated32)
          continue;
        if (at + length - next < 8)
          return corruptError("zip: 64-bit sizes of '" + entry.name + "' are cut off");
        *field = loadLittle<uint64_t>(extra, next);
        next += 8;
      }
      return {};
    }
    at += length;
  }
  return {};
}

/// Finds the data behind the local header, whose lengths differ from the central directory's.
Status locateData(Bytes bytes, Zip::Entry &entry) {
  uint64_t at = entry.headerOffset;
  if (!fitsIn(at, localSize, bytes.size()) || loadLittle<uint32_t>(bytes, at) != localSignature)
    return corruptError("zip: no local header for '" + entry.name + "'");
  uint64_t nameLength = loadLittle<uint16_t>(bytes, at + 26);
  uint64_t extraLength = loadLittle<uint16_t>(bytes, at + 28);
  entry.dataOffset = at + localSize + nameLength + extraLength;
  if (!fitsIn(entry.dataOffset, entry.compressedSize, bytes.size()))
    return corruptError("zip: data of '" + entry.name + "' lies outside the file");
  if (asText(bytes.subspan(at + localSize, nameLength)) != entry.name)
    return corruptError("zip: the two headers of '" + entry.name + "' disagree on its name");
  if (entry.isStored() && entry.size != entry.compressedSize)
    return corruptError("zip: stored entry '" + entry.name + "' has two different sizes");
  return {};
}

/// Reads one central header at `at`, which it moves behind it.
Result<Zip::Entry> readEntry(Bytes bytes, Bytes directory, size_t &at) {
  if (!fitsIn(at, centralSize, directory.size()) || loadLittle<uint32_t>(directory, at) != centralSignature)
    return corruptError("zip: bad header in the central directory");
  Zip::Entry entry;
  uint16_t flags = loadLittle<uint16_t>(directory, at + 8);
  entry.method = loadLittle<uint16_t>(directory, at + 10);
  entry.crc = loadLittle<uint32_t>(directory, at + 16);
  entry.compressedSize = loadLittle<uint32_t>(directory, at + 20);
  entry.size = loadLittle<uint32_t>(directory, at + 24);
  size_t nameLength = loadLittle<uint16_t>(directory, at + 28);
  size_t extraLength = loadLittle<uint16_t>(directory, at + 30);
  size_t commentLength = loadLittle<uint16_t>(directory, at + 32);
  entry.headerOffset = loadLittle<uint32_t>(directory, at + 42);
  if (!fitsIn(at + centralSize, nameLength + extraLength + commentLength, directory.size()))
    return corruptError("zip: header in the central directory is cut off");
  entry.name = asText(directory.subspan(at + centralSize, nameLength));
  if (flags & 1)
    return unsupportedError("zip: entry '" + entry.name + "' is encrypted");
  INGOT_CHECK(applyZip64(directory.subspan(at + centralSize + nameLength, extraLength), entry));
  INGOT_CHECK(locateData(bytes, entry));
  at += centralSize + nameLength + extraLength + commentLength;
  return entry;
}

/// Nothing here is unpacked to a folder, but what is could leave it by such a name.
bool leavesFolder(std::string_view name) {
  if (name.starts_with('/') || name.find('\0') != name.npos)
    return true;
  for (size_t at = 0; at <= name.size();) {
    size_t end = std::min(name.find('/', at), name.size());
    if (name.substr(at, end - at) == "..")
      return true;
    at = end + 1;
  }
  return false;
}

/// Weights hardly shrink, so little of an honest archive is many times its size.
Status checkInflated(const std::vector<Zip::Entry> &entries, uint64_t archiveSize) {
  const uint64_t least = uint64_t(1) << 30;
  const uint64_t limit = archiveSize > Zip::defaultInflateLimit
                             ? Zip::defaultInflateLimit
                             : std::clamp(8 * archiveSize, least, Zip::defaultInflateLimit);
  uint64_t total = 0;
  for (const Zip::Entry &entry : entries) {
    if (entry.isStored())
      continue;
    if (entry.size > limit - total)
      return unsupportedError("zip: the compressed entries hold more than " + std::to_string(limit) +
                              " bytes; store them without compression (zip -0)");
    total += entry.size;
  }
  return {};
}

/// Overlapping entries make a small file expand without end, and no writer makes them.
Status checkOverlap(const std::vector<Zip::Entry> &entries, uint64_t directoryOffset) {
  std::vector<const Zip::Entry *> sorted;
  for (const Zip::Entry &entry : entries)
    sorted.push_back(&entry);
  std::ranges::sort(sorted, {}, [](const Zip::Entry *entry) { return entry->headerOffset; });
  for (size_t i = 0; i < sorted.size(); ++i) {
    uint64_t limit = i + 1 < sorted.size() ? sorted[i + 1]->headerOffset : directoryOffset;
    if (sorted[i]->dataOffset + sorted[i]->compressedSize > limit)
      return corruptError("zip: entry '" + sorted[i]->name + "' overlaps what follows it");
  }
  return {};
}

Status checkCrc(const Zip::Entry &entry, Bytes content) {
  if (crc32_z(0, reinterpret_cast<const Bytef *>(content.data()), content.size()) != entry.crc)
    return corruptError("zip: checksum of '" + entry.name + "' does not match; the file is damaged");
  return {};
}

Status inflateEntry(const Zip::Entry &entry, Bytes source, std::span<std::byte> target) {
  Error failure = corruptError("zip: cannot inflate '" + entry.name + "'; the file is damaged");
  z_stream stream{};
  // Negative window bits: raw deflate data, as zip stores it.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return internalError("zip: zlib cannot start");
  // zlib counts in 32 bits, so larger entries go through in slices.
  constexpr size_t slice = size_t(1) << 30;
  size_t consumed = 0, produced = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    size_t in = std::min(slice, source.size() - consumed);
    size_t out = std::min(slice, target.size() - produced);
    // zlib never writes through next_in; its type merely predates const.
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(source.data() + consumed));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef *>(target.data() + produced);
    stream.avail_out = static_cast<uInt>(out);
    code = inflate(&stream, Z_NO_FLUSH);
    consumed += in - stream.avail_in;
    produced += out - stream.avail_out;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || produced != target.size())
    return failure;
  return {};
}

} // namespace

Result<Zip> Zip::open(std::shared_ptr<const MappedFile> file) {
  INGOT_TRY(Zip zip, parse(file->bytes()));
  zip.file = std::move(file);
  return zip;
}

Result<Zip> Zip::parse(Bytes bytes) {
  INGOT_TRY(Directory directory, readDirectory(bytes));
  Zip zip;
  zip.bytes = bytes;
  Bytes headers = bytes.subspan(directory.offset, directory.size);
  size_t at = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    INGOT_TRY(Entry entry, readEntry(bytes, headers, at));
    if (leavesFolder(entry.name))
      return corruptError("zip: the name '" + entry.name + "' leads out of the archive");
    if (!zip.byName.emplace(entry.name, zip.list.size()).second)
      return corruptError("zip: entry '" + entry.name + "' occurs twice");
    zip.list.push_back(std::move(entry));
  }
  INGOT_CHECK(checkOverlap(zip.list, directory.offset));
  INGOT_CHECK(checkInflated(zip.list, bytes.size()));
  return zip;
}

const Zip::Entry *Zip::find(std::string_view name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &list[found->second];
}

std::span<const std::byte> Zip::stored(const Entry &entry) const {
  assert(entry.isStored());
  return bytes.subspan(entry.dataOffset, entry.size);
}

Status Zip::checkSize(const Entry &entry, uint64_t limit) const {
  // What is stored is in the file already and cannot surprise.
  if (entry.isStored())
    return {};
  if (entry.size > limit)
    return unsupportedError("zip: compressed entry '" + entry.name + "' of " + std::to_string(entry.size) +
                            " bytes is too large; store it without compression (zip -0)");
  // Deflate cannot expand more than about 1032 times; a larger claim is a lie.
  if (entry.size / 1040 > entry.compressedSize)
    return corruptError("zip: entry '" + entry.name + "' claims an impossible size");
  return {};
}

Result<std::vector<std::byte>> Zip::read(const Entry &entry, uint64_t limit) const {
  INGOT_CHECK(checkSize(entry, limit));
  std::vector<std::byte> content(entry.size);
  INGOT_CHECK(readInto(entry, content));
  return content;
}

Status Zip::readInto(const Entry &entry, std::span<std::byte> target) const {
  assert(target.size() == entry.size);
  Bytes source = bytes.subspan(entry.dataOffset, entry.compressedSize);
  if (entry.isStored())
    std::ranges::copy(source, target.begin());
  else if (entry.method != 8)
    return unsupportedError("zip: entry '" + entry.name + "' uses compression method " + std::to_string(entry.method) +
                            "; store the file again without compression (zip -0)");
  else
    INGOT_CHECK(inflateEntry(entry, source, target));
  return checkCrc(entry, target);
}

Status Zip::verify(const Entry &entry) const { return checkCrc(entry, stored(entry)); }
