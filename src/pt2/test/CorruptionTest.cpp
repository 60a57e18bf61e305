// Damaged files must be refused or read, never crash. Run it under sanitizers.
#include "pt2/test/Fixtures.h"

#include <algorithm>
#include <random>

using namespace ingot;
using namespace ingot::pt2;
using namespace ingot::pt2::test;
using ingot::test::readFile;
using ingot::test::TemporaryFolder;

namespace {

constexpr const char *fixtures[] = {"linear", "cond", "dynamic", "shared_strided_deflated"};

/// True if the bytes were accepted.
bool tryRead(const TemporaryFolder &folder, const std::string &bytes) {
  Result<Program> program = readProgram(folder.write("x.pt2", bytes));
  if (program)
    touchWeights(*program);
  return bool(program);
}

TEST(Corruption, SurvivesTruncation) {
  TemporaryFolder folder;
  for (const char *name : fixtures) {
    std::string bytes = readFile(fixture(name));
    size_t step = std::max<size_t>(1, bytes.size() / 60);
    for (size_t length = 0; length < bytes.size(); length += step)
      EXPECT_FALSE(tryRead(folder, bytes.substr(0, length))) << name << " " << length;
    for (size_t cut = 1; cut < 40; ++cut)
      EXPECT_FALSE(tryRead(folder, bytes.substr(0, bytes.size() - cut))) << name << " -" << cut;
  }
}

TEST(Corruption, SurvivesFlippedBytes) {
  TemporaryFolder folder;
  std::mt19937 random(1);
  for (const char *name : fixtures) {
    std::string bytes = readFile(fixture(name));
    for (int i = 0; i < 100; ++i) {
      std::string damaged = bytes;
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      tryRead(folder, damaged);
    }
    // The directory is the richest target.
    for (size_t at = bytes.size() - 300; at < bytes.size(); at += 2) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(random());
      tryRead(folder, damaged);
    }
  }
}

/// The program's text by itself: no checksum hides the damage from the JSON reader.
TEST(Corruption, SurvivesDamagedPrograms) {
  std::string file = readFile(fixture("cond"));
  size_t begin = file.find("{\"graph_module\"");
  ASSERT_NE(begin, std::string::npos);
  size_t end = file.find("PK\x07\x08", begin);
  std::string text = file.substr(begin, end - begin);
  ASSERT_TRUE(readProgramFromMemory(text, {})) << readProgramFromMemory(text, {}).error().str();
  std::mt19937 random(2);
  constexpr std::string_view replacements = "{}[]\",:0-9antf ";
  for (int i = 0; i < 600; ++i) {
    std::string damaged = text;
    damaged[random() % damaged.size()] = replacements[random() % replacements.size()];
    (void)readProgramFromMemory(damaged, {});
  }
  for (size_t length = 0; length < text.size(); length += 101)
    EXPECT_FALSE(readProgramFromMemory(text.substr(0, length), {}));
}

} // namespace
