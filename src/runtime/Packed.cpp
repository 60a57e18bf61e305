#include "runtime/Packed.h"

#include "base/Bytes.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

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
/// Of one matrix: for products and convolutions of several kinds, in several precisions.
constexpr int kMaxForms = 64;
/// Elements of one block at most: far above any weight, far below what overflows.
constexpr int64_t kMaxElements = int64_t(1) << 42;

std::optional<Record> recordOf(const gemm::PanelsInUse &made, int64_t constant, int64_t offset) {
  const PanelSource &source = made.source;
  const size_t rank = source.depthSizes.size();
  if (rank > PackedFile::kMaxRank)
    return std::nullopt;
  Record record = {};
  record.constant = constant;
  record.offset = offset;
  record.rank = static_cast<int64_t>(rank);
  std::ranges::copy(source.depthSizes, record.depthSizes.begin());
  std::ranges::copy(source.depthStrides, record.depthStrides.begin());
  record.columns = source.columns;
  record.columnStride = source.columnStride;
  record.isTransformed = source.isTransformed;
  record.dtype = static_cast<int64_t>(source.dtype);
  record.packing = static_cast<int64_t>(source.packing);
  record.isFinite = made.panels->isFinite();
  return record;
}

bool isSize(int64_t number) { return number >= 1 && number <= kMaxElements; }

/// Bytes from the first element to the last; none where they, or the panels, are too many.
std::optional<int64_t> reachBytes(const PanelSource &source) {
  std::optional<int64_t> last = checkedMul(source.columns - 1, source.columnStride),
                         elements = source.columns + gemm::kPanel;
  for (size_t i = 0; i < source.depthSizes.size(); ++i) {
    const std::optional<int64_t> step = checkedMul(source.depthSizes[i] - 1, source.depthStrides[i]);
    last = last && step ? checkedAdd(*last, *step) : std::nullopt;
    elements = elements ? checkedMul(*elements, source.depthSizes[i]) : elements;
  }
  last = last ? checkedAdd(*last, int64_t(1)) : last;
  if (!last || !elements || *elements > kMaxElements)
    return std::nullopt;
  return checkedMul(*last, static_cast<int64_t>(byteSize(source.dtype)));
}

constexpr std::array kPackable = {DType::Float32, DType::Float16, DType::BFloat16};

/// The fields of a PanelSource, if they can be such.
std::optional<PanelSource> fieldsOf(const Record &record) {
  const auto dtype = std::ranges::find(kPackable, record.dtype, [](DType type) { return static_cast<int64_t>(type); });
  if (record.rank < 1 || record.rank > int64_t(PackedFile::kMaxRank) || !isSize(record.columns) ||
      record.columnStride < 0 || dtype == kPackable.end() || record.packing < 0 ||
      record.packing > int64_t(gemm::Packing::Quads) || (record.isTransformed && record.rank != 3))
    return std::nullopt;
  PanelSource source;
  source.depthSizes.assign(record.depthSizes.begin(), record.depthSizes.begin() + record.rank);
  source.depthStrides.assign(record.depthStrides.begin(), record.depthStrides.begin() + record.rank);
  if (!std::ranges::all_of(source.depthSizes, isSize) ||
      std::ranges::any_of(source.depthStrides, [](int64_t stride) { return stride < 0; }))
    return std::nullopt;
  source.columns = record.columns;
  source.columnStride = record.columnStride;
  source.isTransformed = record.isTransformed != 0;
  source.dtype = *dtype;
  source.packing = static_cast<gemm::Packing>(record.packing);
  return source;
}

/// What the record says, if it is about something that these constants have.
std::optional<PanelSource> sourceOf(const Record &record, std::span<const std::span<const std::byte>> constants) {
  std::optional<PanelSource> source = fieldsOf(record);
  const std::optional<int64_t> bytes = source ? reachBytes(*source) : std::nullopt;
  if (!bytes || record.constant < 0 || record.constant >= std::ssize(constants) || record.offset < 0)
    return std::nullopt;
  const std::span<const std::byte> memory = constants[static_cast<size_t>(record.constant)];
  if (!fitsIn(static_cast<uint64_t>(record.offset), static_cast<uint64_t>(*bytes), memory.size()))
    return std::nullopt;
  source->data = memory.data() + record.offset;
  return source;
}

} // namespace

void PackedFile::open(std::string filePath, const std::string &key, asset::IntactFiles &intact) {
  path = std::move(filePath);
  file = PreparedFile(path, "packed " + std::to_string(gemm::kPanelsFormat) + " " + key, intact,
                      PreparedFile::Pages::Large);
}

void PackedFile::offer(std::vector<std::span<const std::byte>> memory, asset::IntactFiles &intact) {
  constants = std::move(memory);
  if (path.empty() || !file.isIntact())
    return;
  if (read()) {
    file.remember(intact);
    releaseOriginals();
  } else {
    kept.clear();
  }
}

/// A look at a small constant brings what lies around it into memory, which are mostly weights that nobody looks at any
/// more: small ones come first, then their neighbours go.
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
  std::map<const void *, int> forms;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto record = loadLittle<Record>({index[0], recordBytes}, i * sizeof(Record));
    std::optional<PanelSource> source = sourceOf(record, constants);
    if (!source || ++forms[source->data] > kMaxForms)
      return false;
    kept.push_back({record, true, nullptr});
    sizes.push_back(gemm::blockBytesOf(*source));
    sources.push_back(*std::move(source));
  }
  const std::vector<const std::byte *> blocks = file.take(sizes);
  if (blocks.empty() || !file.isAtEnd())
    return false;
  const auto blockFile = std::make_shared<gemm::PanelFile>(file.owner());
  for (size_t i = 0; i < blocks.size(); ++i) {
    kept[i].panels =
        std::make_shared<const gemm::Panels>(sources[i], blockFile, blocks[i], kept[i].record.isFinite != 0);
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
      const std::optional<Record> record = recordOf(found, static_cast<int64_t>(i), offset);
      if (record && known.insert(*record).second)
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
  for (const Kept &one : all) {
    if (one.isInFile)
      one.panels->mappedBlock()->begin(); // what is read page by page is not written to large ones
    file.add(std::as_bytes(one.panels->block()));
  }
  file.save(intact);
  intact.save();
  hasFailed = !read();
}

} // namespace ingot
