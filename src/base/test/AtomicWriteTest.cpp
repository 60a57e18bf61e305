#include "base/AtomicWrite.h"

#include "base/test/TemporaryFolder.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::test;

namespace {

TEST(AtomicWrite, ReplacesFiles) {
  TemporaryFolder folder;
  std::string path = folder.write("x", "old");
  ASSERT_TRUE(writeFileAtomically(path, std::string_view("new")));
  EXPECT_EQ(readFile(path), "new");
  EXPECT_EQ(folder.entryCount(), 1u);
}

TEST(AtomicWrite, LeavesNothingWithoutCommit) {
  TemporaryFolder folder;
  std::string path = folder.write("x", "old");
  {
    Result<AtomicFile> file = AtomicFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(std::string_view("new")));
    EXPECT_EQ(file->bytesWritten(), 3u);
  }
  {
    Result<AtomicDirectory> directory = AtomicDirectory::create(folder.file("d"));
    ASSERT_TRUE(directory);
    std::ofstream(directory->path() + "/inner") << "1";
  }
  EXPECT_EQ(readFile(path), "old");
  EXPECT_EQ(folder.entryCount(), 1u);
}

TEST(AtomicWrite, LinksAreFollowedWhereThatIsWanted) {
  TemporaryFolder folder;
  const std::string path = folder.write("x", "old"), link = folder.file("link");
  std::filesystem::create_symlink("x", link);
  ASSERT_TRUE(writeFileAtomically(link, std::string_view("new"), AtomicFile::Links::Follow));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(readFile(path), "new");
  ASSERT_TRUE(writeFileAtomically(link, std::string_view("own")));
  EXPECT_FALSE(std::filesystem::is_symlink(link));
  EXPECT_EQ(readFile(path), "new");
}

TEST(AtomicWrite, DevicesAndPipesStayWhatTheyAre) {
  TemporaryFolder folder;
  const auto follow = AtomicFile::Links::Follow;
  ASSERT_TRUE(writeFileAtomically("/dev/null", std::string_view("nothing"), follow));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(writeFileAtomically(pipe, std::string_view("x"), follow)) << "nobody reads it";
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(writeFileAtomically(pipe, std::string_view("x"), follow));
  char letter = 0;
  EXPECT_EQ(::read(reader, &letter, 1), 1);
  EXPECT_EQ(letter, 'x');
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(AtomicWrite, WhatSomebodyElseMayHavePutThereIsReplaced) {
  TemporaryFolder folder;
  const std::string pipe = folder.file("pipe"), link = folder.file("link");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", link);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  const mode_t before = ::umask(0);
  EXPECT_TRUE(writeFileAtomically(link, std::string_view("x")));
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(link)));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_TRUE(writeFileAtomically(pipe, std::string_view("y")));
  ::umask(before);
  EXPECT_EQ(readFile(pipe), "y");
  const auto others = std::filesystem::perms::group_write | std::filesystem::perms::others_write;
  EXPECT_EQ(std::filesystem::status(pipe).permissions() & others, std::filesystem::perms::none);
  char letter = 0;
  EXPECT_LE(::read(reader, &letter, 1), 0);
  ::close(reader);
}

/// As after a process of the same number was killed.
TEST(AtomicWrite, LeftoversOfOthersAreNoHindrance) {
  TemporaryFolder folder;
  for (int i = 0; i < 100; ++i)
    folder.write("x.tmp." + std::to_string(::getpid()) + "." + std::to_string(i), "left");
  EXPECT_TRUE(writeFileAtomically(folder.file("x"), std::string_view("new")));
  EXPECT_TRUE(AtomicDirectory::create(folder.file("x")));
}

TEST(AtomicWrite, SaysWhyItFails) {
  Status status = writeFileAtomically("/nonexistent/x", std::string_view("new"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Io);
  TemporaryFolder folder;
  // A directory cannot be replaced by a file, nor the other way round.
  std::filesystem::create_directory(folder.file("d"));
  EXPECT_FALSE(writeFileAtomically(folder.file("d"), std::string_view("new")));
  Result<AtomicDirectory> directory = AtomicDirectory::create(folder.write("f", "file"));
  ASSERT_TRUE(directory);
  EXPECT_FALSE(directory->commit());
  EXPECT_EQ(readFile(folder.file("f")), "file");
}

TEST(AtomicWrite, ReplacesDirectories) {
  TemporaryFolder folder;
  for (std::string content : {"one", "two"}) {
    Result<AtomicDirectory> directory = AtomicDirectory::create(folder.file("d"));
    ASSERT_TRUE(directory);
    std::filesystem::create_directory(directory->path() + "/sub");
    std::ofstream(directory->path() + "/sub/" + content) << content;
    Status status = directory->commit();
    ASSERT_TRUE(status) << status.error().str();
  }
  EXPECT_EQ(folder.entryCount(), 1u);
  EXPECT_EQ(readFile(folder.file("d/sub/two")), "two");
  EXPECT_FALSE(std::filesystem::exists(folder.file("d/sub/one")));
}

} // namespace
