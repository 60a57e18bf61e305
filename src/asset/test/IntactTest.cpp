#include "asset/Intact.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ingot::asset {
namespace {

namespace fs = std::filesystem;

class Intact : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ingot-intact-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    write("weights", "some bytes");
    // Long ago, as far as such clocks can be set; that of properties is always now.
    ::usleep(150'000);
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string &name, const std::string &text) const { std::ofstream(folder / name) << text; }
  std::shared_ptr<MappedFile> open(const std::string &name) const {
    auto file = MappedFile::open((folder / name).string());
    EXPECT_TRUE(file);
    return *file;
  }
  std::string stamp() const { return (folder / "intact").string(); }
  void remember(const std::string &name) const {
    IntactFiles files(stamp(), "key");
    files.add(*open(name));
    files.save();
  }
  bool knows(const std::string &name, const std::string &key = "key") const {
    return IntactFiles(stamp(), key).knows(*open(name));
  }

  fs::path folder;
};

TEST_F(Intact, KnowsWhatWasChecked) {
  EXPECT_FALSE(knows("weights"));
  remember("weights");
  EXPECT_TRUE(knows("weights"));
  EXPECT_FALSE(knows("weights", "another key"));
}

TEST_F(Intact, ForgetsWhatChanged) {
  remember("weights");
  const auto before = fs::last_write_time(folder / "weights");
  const int file = ::open((folder / "weights").c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(file, "X", 1, 3), 1);
  ::close(file);
  // The same size and the same time of writing: the time of the last change to anything tells.
  fs::last_write_time(folder / "weights", before);
  EXPECT_FALSE(knows("weights"));
}

TEST_F(Intact, ForgetsWhatWasReplaced) {
  remember("weights");
  write("other", "some bytes");
  fs::rename(folder / "other", folder / "weights");
  EXPECT_FALSE(knows("weights"));
}

TEST_F(Intact, DoesNotTrustWhatHasJustChanged) {
  write("fresh", "new bytes");
  remember("fresh");
  EXPECT_FALSE(knows("fresh"));
  IntactFiles files(stamp(), "key");
  files.addOwn(*open("fresh"));
  files.save();
  EXPECT_TRUE(knows("fresh"));
}

TEST_F(Intact, KeepsOnlyWhatIsStillAsked) {
  remember("weights");
  write("more", "others");
  ::usleep(150'000);
  remember("more"); // without asking for the first
  EXPECT_TRUE(knows("more"));
  EXPECT_FALSE(knows("weights"));
}

TEST_F(Intact, IgnoresFilesOfOthers) {
  remember("weights");
  ::chmod(stamp().c_str(), 0666);
  EXPECT_FALSE(knows("weights"));
}

TEST_F(Intact, CanBeSwitchedOff) {
  remember("weights");
  ::setenv("INGOT_VERIFY", "always", 1);
  EXPECT_FALSE(knows("weights"));
  ::unsetenv("INGOT_VERIFY");
  EXPECT_TRUE(knows("weights"));
}

} // namespace
} // namespace ingot::asset
