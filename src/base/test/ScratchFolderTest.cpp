#include "base/ScratchFolder.h"

#include "base/test/TemporaryFolder.h"

#include <gmock/gmock.h>

using namespace ingot;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

TEST(ScratchFolderTest, goesWithAllThatIsInIt) {
  test::TemporaryFolder parent;
  test::TmpDir tmp(parent.path());
  {
    Result<ScratchFolder> made = ScratchFolder::make();
    ASSERT_TRUE(made);
    ScratchFolder folder = std::move(*made);
    Result<std::string> path = folder.write("a.txt", "hello");
    ASSERT_TRUE(path);
    EXPECT_EQ(*path, folder.file("a.txt"));
    EXPECT_EQ(test::readFile(*path), "hello");
    EXPECT_EQ(fs::path(folder.path()).parent_path(), parent.path());
  }
  EXPECT_EQ(parent.entryCount(), 0u);
}

TEST(ScratchFolderTest, saysWhatIsWrong) {
  test::TemporaryFolder parent;
  test::TmpDir tmp(parent.file("missing"));
  Result<ScratchFolder> made = ScratchFolder::make();
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("TMPDIR"));
}

TEST(ScratchFolderTest, writesThatFailAreErrors) {
  Result<ScratchFolder> made = ScratchFolder::make();
  ASSERT_TRUE(made);
  Result<std::string> path = made->write("none/a.txt", "hello");
  ASSERT_FALSE(path);
  EXPECT_THAT(path.error().message, HasSubstr("a.txt"));
}

} // namespace
