#include "asset/Writer.h"

#include "Fixture.h"
#include "asset/Staging.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::asset;
using namespace ingot::asset::test;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class Writer : public ScratchTest {};

std::vector<float> floats(const SafeTensor &tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::ranges::copy(tensor.data, std::as_writable_bytes(std::span(values)).begin());
  return values;
}

TEST_F(Writer, RoundTrip) {
  Sample sample;
  ASSERT_TRUE(writeAsset(inScratch("m.ingot"), sample.content));
  Result<Asset> asset = readAsset(inScratch("m.ingot"));
  ASSERT_TRUE(asset) << asset.error().str();
  EXPECT_EQ(asset->manifest.entryPoints, sample.content.manifest.entryPoints);
  EXPECT_EQ(asText(asset->programBytes()), sample.program);
  EXPECT_EQ(floats(*asset->findWeight("a.weight")), sample.matrix);
  EXPECT_EQ(asset->findWeight("b.weight"), asset->findWeight("a.weight"));
  EXPECT_EQ(asset->findWeight("nothing"), nullptr);
  EXPECT_THAT(scratchNames(), ElementsAre("m.ingot"));
}

TEST_F(Writer, DataIsAligned) {
  Sample sample;
  ASSERT_TRUE(writeAsset(inScratch("m.ingot"), sample.content));
  Result<Asset> asset = readAsset(inScratch("m.ingot"));
  ASSERT_TRUE(asset);
  for (const SafeTensor &tensor : asset->weights.tensors)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data.data()) % 64, 0u) << tensor.name;
}

TEST_F(Writer, StridesBecomeRowMajor) {
  std::vector<float> base(4 * 6 * 10);
  std::iota(base.begin(), base.end(), 0.f);
  struct Case {
    std::vector<int64_t> sizes, strides;
  };
  std::vector<Case> cases = {{{10, 6}, {1, 10}},     {{4, 10, 6}, {60, 1, 10}}, {{3, 5}, {60, 2}},
                             {{2, 3, 4}, {0, 0, 1}}, {{6, 1, 10}, {10, 7, 1}},  {{}, {}},
                             {{4, 0, 3}, {1, 1, 1}}, {{4, 6, 5}, {60, 10, 1}}};
  Content content = Sample().content;
  content.program = {};
  content.manifest.weights.clear();
  content.manifest.entryPoints[0].states.clear();
  content.weights.clear();
  for (size_t i = 0; i < cases.size(); ++i)
    content.weights.push_back({"w" + std::to_string(i), DType::Float32, cases[i].sizes, cases[i].strides,
                               reinterpret_cast<const std::byte *>(base.data())});
  ASSERT_TRUE(writeAsset(inScratch("m.ingot"), content));
  Result<Asset> asset = readAsset(inScratch("m.ingot"));
  ASSERT_TRUE(asset) << asset.error().str();
  for (size_t i = 0; i < cases.size(); ++i) {
    std::vector<float> expected;
    auto visit = [&](auto &&self, size_t dim, int64_t offset) -> void {
      if (dim == cases[i].sizes.size())
        return expected.push_back(base[static_cast<size_t>(offset)]);
      for (int64_t k = 0; k < cases[i].sizes[dim]; ++k)
        self(self, dim + 1, offset + k * cases[i].strides[dim]);
    };
    visit(visit, 0, 0);
    EXPECT_EQ(floats(*asset->weights.find("w" + std::to_string(i))), expected) << i;
  }
}

TEST_F(Writer, LargeStridedWeightsCrossTheBuffer) {
  constexpr int64_t rows = 700, columns = 900;
  std::vector<float> base(rows * columns);
  std::iota(base.begin(), base.end(), 0.f);
  Content content = Sample().content;
  content.program = {};
  content.weights[0] = {
      "a.weight", DType::Float32, {columns, rows}, {1, columns}, reinterpret_cast<const std::byte *>(base.data())};
  int64_t table[3] = {};
  content.weights[1].data = reinterpret_cast<const std::byte *>(table);
  ASSERT_TRUE(writeAsset(inScratch("m.ingot"), content));
  Result<Asset> asset = readAsset(inScratch("m.ingot"));
  ASSERT_TRUE(asset);
  std::vector<float> read = floats(*asset->findWeight("a.weight"));
  for (int64_t i = 0; i < columns; i += 7)
    for (int64_t j = 0; j < rows; j += 5)
      ASSERT_EQ(read[static_cast<size_t>(i * rows + j)], base[static_cast<size_t>(j * columns + i)]);
}

TEST_F(Writer, RefusesToReplaceUnlessAsked) {
  Sample first("1"), second("2");
  std::string path = inScratch("m.ingot");
  ASSERT_TRUE(writeAsset(path, first.content));
  Status refused = writeAsset(path, second.content);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
  EXPECT_THAT(refused.error().str(), HasSubstr("overwrite"));
  EXPECT_EQ(readAsset(path)->manifest.torchVersion, "1");
  ASSERT_TRUE(writeAsset(path + "/", second.content, {.overwrite = true}));
  EXPECT_EQ(readAsset(path)->manifest.torchVersion, "2");
  EXPECT_THAT(scratchNames(), ElementsAre("m.ingot"));
}

TEST_F(Writer, NeverReplacesWhatIsNoAsset) {
  writeText(inScratch("file"), "precious");
  fs::create_directory(inScratch("folder"));
  writeText(inScratch("folder/thesis.txt"), "precious");
  Sample sample;
  for (const char *name : {"file", "folder"}) {
    Status refused = writeAsset(inScratch(name), sample.content, {.overwrite = true});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().str(), HasSubstr("not an Ingot asset"));
  }
  EXPECT_EQ(readText(inScratch("file")), "precious");
  EXPECT_EQ(readText(inScratch("folder/thesis.txt")), "precious");
}

TEST_F(Writer, NeverRemovesForeignFilesInsideAnAsset) {
  Sample sample;
  std::string path = inScratch("m.ingot");
  ASSERT_TRUE(writeAsset(path, sample.content));
  writeText(path + "/notes.txt", "precious");
  Status refused = writeAsset(path, sample.content, {.overwrite = true});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().str(), HasSubstr("notes.txt"));
  EXPECT_EQ(readText(path + "/notes.txt"), "precious");
}

TEST_F(Writer, ReplacesBehindASymbolicLink) {
  Sample first("1"), second("2");
  ASSERT_TRUE(writeAsset(inScratch("real.ingot"), first.content));
  fs::create_symlink("real.ingot", inScratch("link.ingot"));
  ASSERT_TRUE(writeAsset(inScratch("link.ingot"), second.content, {.overwrite = true}));
  EXPECT_TRUE(fs::is_symlink(inScratch("link.ingot")));
  EXPECT_EQ(readAsset(inScratch("real.ingot"))->manifest.torchVersion, "2");
}

TEST_F(Writer, MissingFolderIsAnIoError) {
  Status refused = writeAsset(inScratch("no/such/m.ingot"), Sample().content);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Io);
  EXPECT_THAT(scratchNames(), ElementsAre());
}

TEST_F(Writer, FullDiskLeavesTheOldAsset) {
  Sample first("1"), second("2");
  std::string path = inScratch("m.ingot");
  ASSERT_TRUE(writeAsset(path, first.content));
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = {100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Status failed = writeAsset(path, second.content, {.overwrite = true});
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::Io);
  EXPECT_EQ(readAsset(path)->manifest.torchVersion, "1");
  EXPECT_THAT(scratchNames(), ElementsAre("m.ingot"));
}

TEST_F(Writer, KillDuringSaveLeavesOldOrNew) {
  Sample first("1"), second("2");
  std::vector<float> large(size_t(1) << 20, 1.f);
  second.content.weights[0] = {
      "a.weight", DType::Float32, {1 << 20}, {}, reinterpret_cast<const std::byte *>(large.data())};
  std::string path = inScratch("m.ingot");
  ASSERT_TRUE(writeAsset(path, first.content));
  std::map<std::string, int> seen;
  for (int round = 0; round < 60; ++round) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;)
        (void)writeAsset(path, (++round % 2 ? first : second).content, {.overwrite = true});
    }
    ::usleep(static_cast<useconds_t>(500 + round * 397 % 20000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    Result<Asset> asset = readAsset(path);
    ASSERT_TRUE(asset) << "after round " << round << ": " << asset.error().str();
    ++seen[asset->manifest.torchVersion];
  }
  EXPECT_EQ(seen["1"] + seen["2"], 60);
  ASSERT_TRUE(writeAsset(path, first.content, {.overwrite = true}));
  EXPECT_THAT(scratchNames(), ElementsAre("m.ingot")) << "leftovers are removed by the next save";
}

TEST_F(Writer, LeftoversOfALivingProcessStay) {
  Result<Staging> other = Staging::create(inScratch("m.ingot"));
  ASSERT_TRUE(other);
  ASSERT_TRUE(writeAsset(inScratch("m.ingot"), Sample().content));
  EXPECT_TRUE(fs::exists(other->folder()));
}

TEST_F(Writer, OldDirectorySetAsideComesBack) {
  Sample sample;
  ASSERT_TRUE(writeAsset(inScratch("m.ingot"), sample.content));
  fs::rename(inScratch("m.ingot"), inScratch(".m.ingot.old-12345678"));
  Result<Asset> missing = readAsset(inScratch("m.ingot"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().str(), HasSubstr(".m.ingot.old-12345678"));
  EXPECT_TRUE(Staging::create(inScratch("m.ingot")));
  EXPECT_TRUE(readAsset(inScratch("m.ingot")));
}

TEST_F(Writer, CopyIsAWholeAsset) {
  Sample sample;
  ASSERT_TRUE(writeAsset(inScratch("a.ingot"), sample.content));
  ASSERT_TRUE(copyAsset(inScratch("a.ingot"), inScratch("b.ingot")));
  Result<Asset> copy = readAsset(inScratch("b.ingot"));
  ASSERT_TRUE(copy) << copy.error().str();
  EXPECT_EQ(copy->checksum, readAsset(inScratch("a.ingot"))->checksum);
  EXPECT_FALSE(copyAsset(inScratch("a.ingot"), inScratch("b.ingot")));
}

TEST_F(Writer, WeightsWithoutDataAreOurBug) {
  Sample sample;
  sample.content.weights.pop_back();
  Status failed = writeAsset(inScratch("m.ingot"), sample.content);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::Internal);
  EXPECT_THAT(scratchNames(), ElementsAre());
}

} // namespace
