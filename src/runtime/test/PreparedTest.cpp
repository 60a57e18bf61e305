#include "runtime/Prepared.h"

#include "base/Bytes.h"
#include "base/test/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ingot::test {
namespace {

asset::IntactFiles nothing;

constexpr size_t kLarge = size_t(1) << 20;

std::string save(const TemporaryFolder &folder, std::span<const std::string> buffers) {
  const std::string path = folder.file("prepared.bin");
  PreparedFile file(path, "key", nothing);
  for (const std::string &buffer : buffers)
    file.add(asBytes(buffer));
  file.save(nothing);
  return path;
}

TEST(Prepared, GivesBackWhatWasSaved) {
  TemporaryFolder folder;
  const std::vector<std::string> buffers = {std::string(kLarge, 'a'), "bc", std::string(77, 'd')};
  PreparedFile file(save(folder, buffers), "key", nothing);
  const std::vector<size_t> first = {kLarge, 2}, second = {77}, none = {1000};
  std::vector<const std::byte *> found = file.take(first);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(asText({found[0], kLarge}), buffers[0]);
  EXPECT_EQ(asText({found[1], 2}), "bc");
  found = file.take(second);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(asText({found[0], 77}), buffers[2]);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(found[0]) % 64, 0U);
  EXPECT_TRUE(file.take(none).empty());
  EXPECT_TRUE(file.isIntact());
}

TEST(Prepared, IgnoresWhatWasMadeFromSomethingElse) {
  TemporaryFolder folder;
  const std::vector<std::string> buffers = {std::string(kLarge, 'a')};
  const std::string path = save(folder, buffers);
  const std::vector<size_t> sizes = {kLarge};
  EXPECT_TRUE(PreparedFile(path, "another", nothing).take(sizes).empty());
  EXPECT_TRUE(PreparedFile("", "key", nothing).take(sizes).empty());
  EXPECT_FALSE(PreparedFile(path, "key", nothing).take(sizes).empty());
}

TEST(Prepared, NoticesDamage) {
  const std::vector<std::string> buffers = {std::string(kLarge, 'a')};
  const std::vector<size_t> sizes = {kLarge};
  for (bool isCut : {false, true}) {
    TemporaryFolder folder;
    const std::string path = save(folder, buffers);
    if (isCut)
      std::filesystem::resize_file(path, kLarge);
    else
      std::fstream(path, std::ios::in | std::ios::out).seekp(500'000).put('b');
    PreparedFile file(path, "key", nothing);
    (void)file.take(sizes);
    EXPECT_FALSE(file.isIntact());
    // What is computed instead takes its place.
    EXPECT_TRUE(file.take(sizes).empty());
    file.add(asBytes(buffers[0]));
    EXPECT_TRUE(file.isIntact());
    file.save(nothing);
    PreparedFile mended(path, "key", nothing);
    EXPECT_FALSE(mended.take(sizes).empty());
    EXPECT_TRUE(mended.isIntact());
  }
}

TEST(Prepared, SmallResultsAreNotWorthAFile) {
  TemporaryFolder folder;
  const std::vector<std::string> buffers = {"abc"};
  EXPECT_FALSE(std::filesystem::exists(save(folder, buffers)));
}

} // namespace
} // namespace ingot::test
