#include "runtime/Packed.h"

#include "base/Bytes.h"
#include "base/test/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

namespace ingot::test {
namespace {

using gemm::Packing;
using gemm::PanelSource;

asset::IntactFiles nothing;

constexpr int64_t kDepth = 520, kColumns = 1000;

std::vector<float> numbers(float factor) {
  std::vector<float> made(size_t(kDepth * kColumns));
  for (size_t i = 0; i < made.size(); ++i)
    made[i] = factor * static_cast<float>(i % 1009);
  return made;
}

/// Two constants of a program, where a load has put them.
struct Loaded {
  std::vector<float> first = numbers(1), second = numbers(-0.5f);

  std::vector<std::span<const std::byte>> constants() const {
    return {std::as_bytes(std::span(first)), std::as_bytes(std::span(second))};
  }
  PanelSource source(Packing packing) const {
    return {first.data(), {kDepth}, {kColumns}, kColumns, 1, false, DType::Float32, packing};
  }
  PanelSource filters() const { return {second.data() + 40, {3, 3, 50}, {150, 50, 1}, 900, 450, true}; }
};

std::vector<PanelSource> sourcesOf(const Loaded &loaded) {
  return {loaded.source(Packing::Single), loaded.source(Packing::Pairs), loaded.source(Packing::Quads),
          loaded.filters()};
}

std::string save(const TemporaryFolder &folder) {
  std::string path = folder.file("packed.bin");
  const Loaded loaded;
  PackedFile file;
  file.open(path, "key", nothing);
  file.offer(loaded.constants(), nothing);
  std::vector<std::shared_ptr<const gemm::Panels>> made;
  for (const PanelSource &source : sourcesOf(loaded))
    made.push_back(gemm::sharedPanels(source));
  file.save(nothing);
  return path;
}

/// Whether panels are offered for all sources, for none, or for some; those offered are as new ones.
size_t countOffered(const std::string &path, const Loaded &loaded, const std::string &key = "key") {
  PackedFile file;
  file.open(path, key, nothing);
  file.offer(loaded.constants(), nothing);
  size_t count = 0;
  for (std::span<const std::byte> constant : loaded.constants())
    for (const gemm::PanelsInUse &found : gemm::panelsMadeFrom(constant)) {
      const gemm::Panels fresh(found.source);
      EXPECT_TRUE(std::ranges::equal(std::as_bytes(found.panels->block()), std::as_bytes(fresh.block())));
      EXPECT_EQ(found.panels->isFinite(), fresh.isFinite());
      ++count;
    }
  return count;
}

TEST(Packed, OffersWhatWasSavedWhereverTheConstantsAre) {
  TemporaryFolder folder;
  const std::string path = save(folder);
  const Loaded loaded;
  EXPECT_EQ(countOffered(path, loaded), sourcesOf(loaded).size());
}

TEST(Packed, KernelsTakeWhatIsOffered) {
  TemporaryFolder folder;
  const Loaded loaded;
  PackedFile file;
  file.open(save(folder), "key", nothing);
  file.offer(loaded.constants(), nothing);
  for (const PanelSource &source : sourcesOf(loaded)) {
    const std::vector<gemm::PanelsInUse> offered =
        gemm::panelsMadeFrom(std::as_bytes(std::span(static_cast<const float *>(source.data), 1)));
    const std::shared_ptr<const gemm::Panels> taken = gemm::sharedPanels(source);
    EXPECT_TRUE(std::ranges::any_of(offered, [&](const gemm::PanelsInUse &one) { return one.panels == taken; }));
  }
}

TEST(Packed, KeepsWhatIsThereWhenMoreComes) {
  TemporaryFolder folder;
  const std::string path = save(folder);
  const Loaded loaded;
  {
    PackedFile file;
    file.open(path, "key", nothing);
    file.offer(loaded.constants(), nothing);
    const auto before = std::filesystem::last_write_time(path);
    file.save(nothing); // nothing is new
    EXPECT_EQ(std::filesystem::last_write_time(path), before);
    const auto more = gemm::sharedPanels({loaded.second.data(), {kDepth}, {kColumns}, kColumns, 1});
    file.save(nothing);
  }
  EXPECT_EQ(countOffered(path, loaded), sourcesOf(loaded).size() + 1);
}

TEST(Packed, IgnoresWhatIsOfAnotherProgramOrDamaged) {
  TemporaryFolder folder;
  const std::string path = save(folder);
  Loaded loaded;
  EXPECT_EQ(countOffered(path, loaded, "another"), 0U);
  Loaded smaller;
  smaller.second.resize(1000);
  EXPECT_EQ(countOffered(path, smaller), 0U);
  std::fstream(path, std::ios::in | std::ios::out).seekp(500'000).put('b');
  EXPECT_EQ(countOffered(path, loaded), 0U);
}

/// The original with another number in the records, and with a right checksum.
void forge(const std::string &original, const std::string &path, size_t field, int64_t number) {
  const std::string key = "packed " + std::to_string(gemm::kPanelsFormat) + " key";
  PreparedFile whole(original, key, nothing), forged(path, key, nothing);
  const std::vector<const std::byte *> head = whole.take(std::array{sizeof(int64_t)});
  const auto count = loadLittle<int64_t>({head[0], sizeof(int64_t)}, 0);
  const size_t bytes = static_cast<size_t>(count) * sizeof(PackedFile::Record);
  const std::vector<const std::byte *> index = whole.take(std::array{bytes});
  std::vector<int64_t> records(bytes / sizeof(int64_t));
  std::memcpy(records.data(), index[0], bytes);
  records[field] = number;
  const size_t rest = std::filesystem::file_size(original) - static_cast<size_t>(index[0] - head[0]) - 4096 - bytes;
  const std::vector<float> blocks(rest / sizeof(float), 1.0f);
  forged.startAnew();
  forged.add({head[0], sizeof(int64_t)});
  forged.add(std::as_bytes(std::span(records)));
  forged.add(std::as_bytes(std::span(blocks)));
  forged.save(nothing);
}

TEST(Packed, RecordsThatLieAreRefusedOrStayInsideOfTheirConstants) {
  const Loaded loaded;
  TemporaryFolder folder;
  const std::string original = save(folder), path = folder.file("forged.bin");
  constexpr size_t fields = sizeof(PackedFile::Record) / sizeof(int64_t);
  for (size_t field = 0; field < fields; ++field)
    for (int64_t number : {int64_t(-1), int64_t(0), int64_t(2), int64_t(1) << 20, int64_t(1) << 40, int64_t(1) << 62,
                           std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
      forge(original, path, field, number);
      PackedFile file;
      file.open(path, "key", nothing);
      file.offer(loaded.constants(), nothing);
      for (std::span<const std::byte> constant : loaded.constants())
        for (const gemm::PanelsInUse &found : gemm::panelsMadeFrom(constant)) {
          const auto *data = static_cast<const std::byte *>(found.source.data);
          const size_t bytes = static_cast<size_t>(found.source.reach()) * byteSize(found.source.dtype);
          ASSERT_LE(bytes, static_cast<size_t>(constant.data() + constant.size() - data));
          const std::span<const float> block = found.panels->block();
          EXPECT_GE(std::accumulate(block.begin(), block.end(), 0.0), 0.0); // all of it can be read
        }
    }
}

TEST(Packed, FilesWithMoreThanTheirRecordsSayAreIgnored) {
  const Loaded loaded;
  TemporaryFolder folder;
  const std::string original = save(folder), path = folder.file("forged.bin");
  // The first record has fewer columns, so that all blocks behind it would be others.
  constexpr size_t columns = offsetof(PackedFile::Record, columns) / sizeof(int64_t);
  forge(original, path, columns, kColumns - 64);
  EXPECT_EQ(countOffered(path, loaded), 0U);
}

TEST(Packed, ManyFormsOfOneMatrixAreIgnored) {
  const Loaded loaded;
  TemporaryFolder folder;
  const std::string path = folder.file("packed.bin");
  std::vector<std::shared_ptr<const gemm::Panels>> made;
  for (int64_t i = 0; i < 65; ++i)
    made.push_back(gemm::sharedPanels({loaded.first.data(), {100 + i}, {kColumns}, 100, 1}));
  PackedFile file;
  file.open(path, "key", nothing);
  file.offer(loaded.constants(), nothing);
  file.save(nothing);
  made.clear();
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(countOffered(path, Loaded()), 0U);
}

TEST(Packed, SmallPanelsAreNotWorthAFile) {
  TemporaryFolder folder;
  const std::string path = folder.file("packed.bin");
  const Loaded loaded;
  PackedFile file;
  file.open(path, "key", nothing);
  file.offer(loaded.constants(), nothing);
  const auto small = gemm::sharedPanels({loaded.first.data(), {100}, {100}, 100, 1});
  file.save(nothing);
  EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace
} // namespace ingot::test
