#include "runtime/Packed.h"

#include "base/Bytes.h"

#include <algorithm>
#include <filesystem>

namespace ingot {
namespace {

using gemm::PanelSource;
using Record = PackedFile::Record;

/// New panels of fewer bytes are made sooner than the file is written.
constexpr size_t kMinBytes = size_t(1) << 20;
/// At most this part of the free space is taken.
constexpr size_t kPartOfSpace = 4;
/// Constants of fewer bytes are taken as they are, and are not worth panels.
constexpr size_t kMaxSmall = size_t(1) << 16, kPage = 4096;
constexpr size_t kMaxRank = 4;
/// Elements of one block at most: far above any weight, far below what overflows.
constexpr int64_t kMaxElements = int64_t(1) << 42;

std::optional<Record> recordOf(const PanelSource &source, int64_t constant, int64_t offset) {
  const size_t rank = source.depthSizes.size();
  if (rank > kMaxRank)
    return std::nullopt;
  Record record = {constant, offset, static_cast<int64_t>(rank)};
  std::ranges::copy(source.depthSizes, record.begin() + 3);
  std::ranges::copy(source.depthStrides, record.begin() + 3 + kMaxRank);
  int64_t *rest = record.data() + 3 + 2 * kMaxRank;
  *rest++ = source.columns;
  *rest++ = source.columnStride;
  *rest++ = source.isTransformed;
  *rest++ = static_cast<int64_t>(source.dtype);
  *rest++ = static_cast<int64_t>(source.packing);
  return record;
}

bool isFiniteOf(const Record &record) { return record.back() != 0; }

/// Bytes from the first element to the last; none where sizes are none or overflow.
std::optional<int64_t> reachBytes(const PanelSource &source) {
  std::optional<int64_t> last = checkedMul(source.columns - 1, source.columnStride),
                         elements = source.columns + gemm::kPanel;
  for (size_t i = 0; i < source.depthSizes.size(); ++i) {
    const std::optional<int64_t> step = checkedMul(source.depthSizes[i] - 1, source.depthStrides[i]);
    if (source.depthSizes[i] < 1 || source.depthStrides[i] < 0 || !last || !step || !elements)
      return std::nullopt;
    last = checkedAdd(*last, *step);
    elements = checkedMul(*elements, source.depthSizes[i]);
  }
  if (!last || !elements || *elements > kMaxElements)
    return std::nullopt;
  last = checkedAdd(*last, int64_t(1));
  return last ? checkedMul(*last, static_cast<int64_t>(byteSize(source.dtype))) : last;
}

/// What the record says, if it is about something that these constants have.
std::optional<PanelSource> sourceOf(const Record &record, std::span<const std::span<const std::byte>> constants) {
  const auto [constant, offset, rank] = std::array{record[0], record[1], record[2]};
  const int64_t *rest = record.data() + 3 + 2 * kMaxRank;
  const bool isTransformed = rest[2] != 0;
  const auto dtype = static_cast<DType>(rest[3]);
  if (constant < 0 || constant >= std::ssize(constants) || offset < 0 || rank < 1 || rank > int64_t(kMaxRank) ||
      rest[0] < 1 || rest[1] < 0 || rest[3] < 0 || rest[3] > 255 || rest[4] < 0 || rest[4] > 2 ||
      (isTransformed && rank != 3) || (dtype != DType::Float32 && dtype != DType::Float16 && dtype != DType::BFloat16))
    return std::nullopt;
  PanelSource source;
  source.depthSizes.assign(record.begin() + 3, record.begin() + 3 + rank);
  source.depthStrides.assign(record.begin() + 3 + kMaxRank, record.begin() + 3 + kMaxRank + rank);
  source.columns = rest[0];
  source.columnStride = rest[1];
  source.isTransformed = isTransformed;
  source.dtype = dtype;
  source.packing = static_cast<gemm::Packing>(rest[4]);
  const std::span<const std::byte> memory = constants[static_cast<size_t>(constant)];
  const std::optional<int64_t> bytes = reachBytes(source);
  if (!bytes || !fitsIn(static_cast<uint64_t>(offset), static_cast<uint64_t>(*bytes), memory.size()))
    return std::nullopt;
  source.data = memory.data() + offset;
  return source;
}

} // namespace

void PackedFile::open(std::string filePath, const std::string &key, asset::IntactFiles &intact) {
  path = std::move(filePath);
  file = PreparedFile(path, "packed " + std::to_string(gemm::kPanelsFormat) + " " + key, intact);
}

void PackedFile::offer(std::vector<std::span<const std::byte>> memory) {
  constants = std::move(memory);
  if (path.empty() || !file.isIntact())
    return;
  if (read())
    releaseOriginals();
  else
    kept.clear();
}

/// A look at a small constant brings what lies around it into memory, which are mostly weights that nobody looks at any more: small ones come
/// first, then their neighbours go.
void PackedFile::releaseOriginals() const {
  for (std::span<const std::byte> constant : constants)
    if (constant.size() <= kMaxSmall)
      for (size_t at = 0; at < constant.size(); at += kPage)
        (void)*static_cast<const volatile std::byte *>(constant.data() + at);
  for (const Kept &one : kept)
    if (const std::optional<PanelSource> source = sourceOf(one.record, constants))
      MappedFile::releasePages(source->data, static_cast<size_t>(source->reach()) * byteSize(source->dtype));
}

/// Everything, or nothing of a file that is not as it should be.
bool PackedFile::read() {
  kept.clear();
  const std::vector<const std::byte *> head = file.take(std::array{sizeof(int64_t)});
  const int64_t count = head.empty() ? 0 : loadLittle<int64_t>({head[0], sizeof(int64_t)}, 0);
  if (count < 1 || count > int64_t(1) << 20)
    return false;
  const auto recordBytes = static_cast<size_t>(count) * sizeof(Record);
  const std::vector<const std::byte *> index = file.take(std::array{recordBytes});
  if (index.empty())
    return false;
  std::vector<PanelSource> sources;
  std::vector<size_t> sizes;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto record = loadLittle<Record>({index[0], recordBytes}, i * sizeof(Record));
    std::optional<PanelSource> source = sourceOf(record, constants);
    if (!source)
      return false;
    kept.push_back({record, true, nullptr});
    sizes.push_back(gemm::Panels(*source, nullptr, true).blockBytes());
    sources.push_back(*std::move(source));
  }
  const std::vector<const std::byte *> blocks = file.take(sizes);
  if (blocks.empty())
    return false;
  for (size_t i = 0; i < blocks.size(); ++i) {
    std::shared_ptr<const float> block(file.owner(), reinterpret_cast<const float *>(blocks[i]));
    kept[i].panels = std::make_shared<const gemm::Panels>(sources[i], block, isFiniteOf(kept[i].record));
    gemm::offerPanels(sources[i], kept[i].panels);
  }
  return true;
}

/// Those of the file, and those that kernels have made since.
std::vector<PackedFile::Kept> PackedFile::current() const {
  std::vector<Kept> all = kept;
  std::set<Record> known;
  for (const Kept &one : kept)
    known.insert(one.record);
  std::set<const gemm::Panels *> seen; // constants may share memory: the first one counts
  for (size_t i = 0; i < constants.size(); ++i)
    for (gemm::PanelsInUse &found : gemm::panelsMadeFrom(constants[i])) {
      if (!seen.insert(found.panels.get()).second)
        continue;
      const int64_t offset = static_cast<const std::byte *>(found.source.data) - constants[i].data();
      std::optional<Record> record = recordOf(found.source, static_cast<int64_t>(i), offset);
      if (!record)
        continue;
      record->back() = found.panels->isFinite();
      if (known.insert(*record).second)
        all.push_back({*record, false, std::move(found.panels)});
    }
  return all;
}

bool PackedFile::hasRoomFor(size_t bytes) const {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(std::filesystem::path(path).parent_path(), error);
  return !error && bytes <= space.available / kPartOfSpace;
}

void PackedFile::save(asset::IntactFiles &intact) {
  std::lock_guard lock(mutex);
  if (path.empty() || hasFailed)
    return;
  const std::vector<Kept> all = current();
  size_t bytes = 0, newBytes = 0;
  for (const Kept &one : all) {
    bytes += one.panels->blockBytes();
    newBytes += one.isInFile ? 0 : one.panels->blockBytes();
  }
  if (newBytes < kMinBytes)
    return;
  if (hasRoomFor(bytes))
    write(all, intact);
  else
    hasFailed = true;
}

void PackedFile::write(std::span<const Kept> all, asset::IntactFiles &intact) {
  const auto count = static_cast<int64_t>(all.size());
  std::vector<Record> records;
  for (const Kept &one : all)
    records.push_back(one.record);
  file.startAnew();
  file.add(std::as_bytes(std::span(&count, 1)));
  file.add(std::as_bytes(std::span(records)));
  for (const Kept &one : all)
    file.add(std::as_bytes(one.panels->block()));
  file.save(intact);
  intact.save();
  hasFailed = !read();
}

} // namespace ingot
