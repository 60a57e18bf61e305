#include "base/MappedFile.h"

#include "base/Bytes.h"
#include "base/test/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace ingot;
using namespace ingot::test;

namespace {

TEST(MappedFile, MapsFiles) {
  TemporaryFolder folder;
  auto file = MappedFile::open(folder.write("x", "hello"));
  ASSERT_TRUE(file) << file.error().str();
  EXPECT_EQ(asText((*file)->bytes()), "hello");
  auto empty = MappedFile::open(folder.write("e", ""));
  ASSERT_TRUE(empty);
  EXPECT_TRUE((*empty)->bytes().empty());
}

TEST(MappedFile, KeepsChangesPrivate) {
  TemporaryFolder folder;
  std::string path = folder.write("x", "hello");
  auto file = MappedFile::open(path, MappedFile::Access::CopyOnWrite);
  ASSERT_TRUE(file);
  (*file)->mutableBytes()[0] = std::byte('J');
  EXPECT_EQ(asText((*file)->bytes()), "Jello");
  EXPECT_EQ(readFile(path), "hello");
}

TEST(MappedFile, ReleasedPagesAreReadAgain) {
  TemporaryFolder folder;
  const std::string text(100'000, 'x');
  const std::string path = folder.write("x", text);
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(asText((*file)->bytes()), text);
  MappedFile::releasePages((*file)->bytes().data(), text.size());
  EXPECT_EQ(asText((*file)->bytes()), text);
  // What a process has changed, or has in its own memory, would be lost.
  auto changed = MappedFile::open(path, MappedFile::Access::CopyOnWrite);
  ASSERT_TRUE(changed);
  std::span<std::byte> bytes = (*changed)->mutableBytes();
  bytes[50'000] = std::byte('y');
  MappedFile::releasePages(bytes.data(), bytes.size());
  EXPECT_EQ(bytes[50'000], std::byte('y'));
  std::string own = text;
  MappedFile::releasePages(own.data(), own.size());
  EXPECT_EQ(own, text);
}

TEST(MappedFile, SaysWhyItFails) {
  TemporaryFolder folder;
  auto missing = MappedFile::open(folder.file("none"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::Io);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  auto directory = MappedFile::open(folder.path());
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.error().message.find("not a regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  auto pipe = MappedFile::open(folder.file("pipe")); // nobody writes to it
  ASSERT_FALSE(pipe);
  EXPECT_NE(pipe.error().message.find("not a regular file"), std::string::npos);
}

} // namespace
