#include "runtime/Prepared.h"

#include "base/AtomicWrite.h"
#include "base/Bytes.h"

#include <sys/stat.h>

namespace ingot {
namespace {

constexpr size_t kHeaderBytes = 4096, kAlignment = 64;
/// What is smaller is computed sooner than read.
constexpr size_t kMinBytes = size_t(1) << 20;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Names the size of the whole file, too, so that one that was cut off is noticed.
std::string headerOf(const std::string &title, size_t size) {
  std::string header = title + " " + std::to_string(size) + "\n";
  header.resize(kHeaderBytes, ' ');
  return header;
}

std::shared_ptr<MappedFile> mapPlain(const std::string &path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return nullptr;
  Result<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  return file ? *std::move(file) : nullptr;
}

Status writeAll(const std::string &path, std::string_view header, std::span<const std::span<const std::byte>> buffers) {
  INGOT_TRY(AtomicFile file, AtomicFile::create(path));
  INGOT_CHECK(file.write(header));
  const std::vector<std::byte> zeros(kAlignment);
  for (std::span<const std::byte> buffer : buffers) {
    INGOT_CHECK(file.write(buffer));
    INGOT_CHECK(file.write(std::span(zeros).first(aligned(buffer.size()) - buffer.size())));
  }
  return file.commit();
}

} // namespace

PreparedFile::PreparedFile(std::string filePath, const std::string &key) : path(std::move(filePath)) {
  if (path.empty())
    return;
  title = "ingot-prepared 1 " + key;
  file = mapPlain(path);
  const size_t size = file ? file->bytes().size() : 0;
  if (size < kHeaderBytes || asText(file->bytes().first(kHeaderBytes)) != headerOf(title, size))
    file = nullptr;
  offset = kHeaderBytes;
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

void PreparedFile::add(std::span<const std::byte> buffer) { added.push_back(buffer); }

void PreparedFile::save() {
  size_t total = 0;
  for (std::span<const std::byte> buffer : added)
    total += aligned(buffer.size());
  if (!path.empty() && !file && total >= kMinBytes)
    (void)writeAll(path, headerOf(title, kHeaderBytes + total), added);
  added.clear();
}

} // namespace ingot
