#include "runtime/Packed.h"

#include "base/test/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
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
  file.offer(loaded.constants());
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
  file.offer(loaded.constants());
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
  file.offer(loaded.constants());
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
    file.offer(loaded.constants());
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

TEST(Packed, SmallPanelsAreNotWorthAFile) {
  TemporaryFolder folder;
  const std::string path = folder.file("packed.bin");
  const Loaded loaded;
  PackedFile file;
  file.open(path, "key", nothing);
  file.offer(loaded.constants());
  const auto small = gemm::sharedPanels({loaded.first.data(), {100}, {100}, 100, 1});
  file.save(nothing);
  EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace
} // namespace ingot::test
