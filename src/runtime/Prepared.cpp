#include "runtime/Prepared.h"

#include "asset/Cache.h"
#include "asset/HashingFile.h"
#include "base/Async.h"
#include "base/AtomicWrite.h"
#include "base/Bytes.h"
#include "base/Hash.h"

namespace ingot {
namespace {

constexpr size_t kHeaderBytes = 4096, kAlignment = 64;
/// What is smaller is computed sooner than read.
constexpr size_t kMinBytes = size_t(1) << 20;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::string headerOf(const std::string &title, size_t bytes, const Hash128 &checksum) {
  std::string header = title + " " + std::to_string(bytes) + " " + checksum.hex() + "\n";
  header.resize(kHeaderBytes, ' ');
  return header;
}

bool isSound(const MappedFile &file, const std::string &title) {
  const std::span<const std::byte> content = file.bytes().subspan(kHeaderBytes);
  return asText(file.bytes().first(kHeaderBytes)) == headerOf(title, content.size(), asset::hashMapped(content));
}

/// Gives the header.
Result<std::string> writeAll(const std::string &path, const std::string &title,
                             std::span<const std::span<const std::byte>> buffers) {
  const std::vector<std::byte> zeros(kAlignment);
  Hasher hasher;
  size_t bytes = 0;
  for (std::span<const std::byte> buffer : buffers) {
    hasher.add(buffer).add(std::span(zeros).first(aligned(buffer.size()) - buffer.size()));
    bytes += aligned(buffer.size());
  }
  INGOT_TRY(AtomicFile file, AtomicFile::create(path));
  std::string header = headerOf(title, bytes, hasher.finish());
  INGOT_CHECK(file.write(header));
  for (std::span<const std::byte> buffer : buffers) {
    INGOT_CHECK(file.write(buffer));
    INGOT_CHECK(file.write(std::span(zeros).first(aligned(buffer.size()) - buffer.size())));
  }
  INGOT_CHECK(file.commit());
  return header;
}

} // namespace

PreparedFile::PreparedFile(std::string filePath, const std::string &key, asset::IntactFiles &intact, Pages pages)
    : path(std::move(filePath)), title("ingot-prepared 1 " + key), pages(pages), offset(kHeaderBytes) {
  if (path.empty())
    return;
  map();
  if (file && (file->bytes().size() < kHeaderBytes || !asText(file->bytes()).starts_with(title + " ")))
    file = nullptr;
  if (file && !intact.knows(*file))
    check = startAsync([mapped = file, text = title] { return isSound(*mapped, text); });
}

void PreparedFile::map() {
  file = asset::mapCacheFile(path);
  if (file && pages == Pages::Large)
    file->preferLargePages();
}

std::vector<const std::byte *> PreparedFile::take(std::span<const size_t> sizes) {
  std::vector<const std::byte *> buffers;
  const size_t end = file ? file->bytes().size() : 0;
  size_t next = offset;
  for (size_t bytes : sizes) {
    if (next > end || bytes > end - next)
      return {};
    buffers.push_back(file->bytes().data() + next);
    next += aligned(bytes);
  }
  offset = next;
  return buffers;
}

bool PreparedFile::isAtEnd() const { return file && offset == file->bytes().size(); }

void PreparedFile::remember(asset::IntactFiles &intact) const {
  if (file)
    intact.add(*file);
}

void PreparedFile::add(std::span<const std::byte> buffer) { added.push_back(buffer); }

bool PreparedFile::isIntact() {
  if (!check.valid() || check.get())
    return true;
  startAnew();
  return false;
}

void PreparedFile::startAnew() {
  file = nullptr;
  offset = kHeaderBytes;
  added.clear();
}

void PreparedFile::save(asset::IntactFiles &intact) {
  size_t total = 0;
  for (std::span<const std::byte> buffer : added)
    total += buffer.size();
  if (!path.empty() && !file && total >= kMinBytes)
    if (const Result<std::string> header = writeAll(path, title, added)) {
      map();
      // Another process may have put something else at the path since.
      if (file && !asText(file->bytes()).starts_with(*header))
        file = nullptr;
    }
  if (file)
    intact.addOwn(*file);
  added.clear();
}

} // namespace ingot
