#include "runtime/Prepared.h"

#include "base/Bytes.h"
#include "base/test/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>

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

TEST(Prepared, IgnoresWhatOthersMayWrite) {
  const std::vector<std::string> buffers = {std::string(kLarge, 'a')};
  const std::vector<size_t> sizes = {kLarge};
  TemporaryFolder folder;
  const mode_t before = ::umask(0);
  const std::string path = save(folder, buffers);
  ::umask(before);
  EXPECT_FALSE(PreparedFile(path, "key", nothing).take(sizes).empty());
  std::filesystem::permissions(path, std::filesystem::perms::group_write, std::filesystem::perm_options::add);
  EXPECT_TRUE(PreparedFile(path, "key", nothing).take(sizes).empty());
}

/// Nothing is taken for what was written that somebody else has put in its place meanwhile.
TEST(Prepared, IsWhatWasWrittenOrNothing) {
  const std::vector<std::string> buffers = {std::string(kLarge, 'a')}, others = {std::string(kLarge, 'b')};
  const std::vector<size_t> sizes = {kLarge};
  TemporaryFolder folder, elsewhere;
  const std::string path = folder.file("prepared.bin"), other = save(elsewhere, others);
  std::atomic<bool> isDone = false;
  std::thread rival([&] {
    const std::string copy = folder.file("copy");
    while (!isDone) {
      std::filesystem::copy_file(other, copy, std::filesystem::copy_options::overwrite_existing);
      std::filesystem::rename(copy, path);
    }
  });
  for (int i = 0; i < 50; ++i) {
    PreparedFile file(path, "another key", nothing);
    file.add(asBytes(buffers[0]));
    file.save(nothing);
    if (const std::vector<const std::byte *> found = file.take(sizes); !found.empty())
      EXPECT_EQ(asText({found[0], kLarge}), buffers[0]);
  }
  isDone = true;
  rival.join();
}

TEST(Prepared, SmallResultsAreNotWorthAFile) {
  TemporaryFolder folder;
  const std::vector<std::string> buffers = {"abc"};
  EXPECT_FALSE(std::filesystem::exists(save(folder, buffers)));
}

} // namespace
} // namespace ingot::test
