#include "base/MappedFile.h"

#include "base/AtomicWrite.h"
#include "base/Bytes.h"
#include "base/test/TemporaryFolder.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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

/// A text without a period that pages could have.
std::string longText(size_t bytes) {
  std::string text(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i)
    text[i] = static_cast<char>('a' + i % 10'007 % 26);
  return text;
}

TEST(MappedFile, LargePagesComeAndGo) {
  TemporaryFolder folder;
  const std::string path = folder.file("x"), text = longText(4 * kLargePage + 12'345);
  ASSERT_TRUE(writeFileAtomically(path, text));
  auto opened = MappedFile::open(path);
  ASSERT_TRUE(opened);
  const MappedFile &file = **opened;
  file.preferLargePages();
  // Parts that begin and end anywhere, and the end of the file, behind which lies something else.
  for (auto [begin, bytes] : {std::pair<size_t, size_t>{5'000, 3 * kLargePage},
                              {kLargePage - 1, 2},
                              {0, text.size()},
                              {text.size() - 100, 100},
                              {kLargePage, kLargePage},
                              {77, 0}}) {
    const std::span<const std::byte> part = file.bytes().subspan(begin, bytes);
    file.fetch(part);
    EXPECT_EQ(asText(part), std::string_view(text).substr(begin, bytes));
    file.release(part);
    EXPECT_FALSE(file.isOnLargePages(part)) << "released";
    EXPECT_EQ(asText(part), std::string_view(text).substr(begin, bytes));
  }
  EXPECT_EQ(asText(file.bytes()), text);
}

TEST(MappedFile, WhatWasWrittenInLargePiecesIsOnLargePages) {
  TemporaryFolder folder;
  const std::string path = folder.file("x"), text = longText(5 * kLargePage);
  {
    Result<AtomicFile> file = AtomicFile::create(path);
    ASSERT_TRUE(file);
    for (size_t at = 0; at < text.size(); at += 999'983) // pieces that fit nowhere
      ASSERT_TRUE(file->write(std::string_view(text).substr(at, 999'983)));
    EXPECT_EQ(file->bytesWritten(), text.size());
    ASSERT_TRUE(file->commit());
  }
  EXPECT_EQ(readFile(path), text);
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  (*file)->preferLargePages();
  (*file)->fetch((*file)->bytes());
  if (!(*file)->isOnLargePages((*file)->bytes()))
    GTEST_SKIP() << "this system does not keep files on large pages, or does not tell";
  (*file)->release((*file)->bytes().subspan(kLargePage, 2 * kLargePage));
  EXPECT_FALSE((*file)->isOnLargePages((*file)->bytes()));
  EXPECT_EQ(asText((*file)->bytes()), text);
}

TEST(MappedFile, PartsAreReadPastTheMapping) {
  TemporaryFolder folder;
  const std::string path = folder.write("x", "0123456789");
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  const std::byte *start = (*file)->bytes().data();
  auto reader = PartReader::of(start + 2, 8);
  ASSERT_TRUE(reader);
  EXPECT_EQ(PartReader::of(start, 1), reader) << "one descriptor is enough";
  EXPECT_TRUE(reader->isOpen());
  std::string part(3, ' ');
  reader->read(part.data(), start + 4, 3);
  EXPECT_EQ(part, "456");
  EXPECT_FALSE(PartReader::of(start + 2, 9)) << "past the end";
  EXPECT_FALSE(PartReader::of(part.data(), 3)) << "no file";
  auto own = MappedFile::open(path, MappedFile::Access::CopyOnWrite);
  ASSERT_TRUE(own);
  EXPECT_FALSE(PartReader::of((*own)->bytes().data(), 3)) << "may have been changed";
}

TEST(MappedFile, AnotherFileIsNotReadInItsPlace) {
  TemporaryFolder folder;
  const std::string path = folder.write("x", "0123456789");
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  const std::byte *start = (*file)->bytes().data();
  const int before = ::dup(0);
  ::close(before); // the number that the reader's descriptor will have
  auto reader = PartReader::of(start, 10);
  ASSERT_TRUE(reader);
  ::close(before);
  EXPECT_FALSE(reader->isOpen());
  std::string part(3, ' ');
  reader->read(part.data(), start + 4, 3);
  EXPECT_EQ(part, "456") << "from the mapping";
  ASSERT_EQ(::open(folder.write("y", "abcdefghij").c_str(), O_RDONLY), before);
  EXPECT_FALSE(reader->isOpen());
  reader.reset();
  EXPECT_EQ(::close(before), 0) << "it was not the reader's to close";

  std::filesystem::rename(folder.file("y"), path);
  EXPECT_FALSE(PartReader::of(start, 10));
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
