#include "asset/Reader.h"

#include "Fixture.h"

using namespace ingot;
using namespace ingot::asset;
using namespace ingot::asset::test;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class Reader : public ScratchTest {
protected:
  Reader() : path(inScratch("m.ingot")) {
    Status saved = writeAsset(path, Sample().content);
    EXPECT_TRUE(saved);
  }

  std::string file(std::string_view name) const { return path + "/" + std::string(name); }

  void expectError(ErrorKind kind, const std::string &text) {
    Result<Asset> asset = readAsset(path);
    ASSERT_FALSE(asset) << "should say: " << text;
    EXPECT_EQ(asset.error().kind, kind) << asset.error().str();
    EXPECT_THAT(asset.error().str(), HasSubstr(text));
  }

  std::string path;
};

TEST_F(Reader, MissingPath) {
  fs::remove_all(path);
  expectError(ErrorKind::Io, "No such file");
}

TEST_F(Reader, PlainFile) {
  path = inScratch("model.pt2");
  writeText(path, "PK");
  expectError(ErrorKind::Corrupt, "ingot convert");
}

TEST_F(Reader, ForeignFolder) {
  fs::remove(file(kManifestFile));
  expectError(ErrorKind::Corrupt, "is not an Ingot asset: it has no manifest.json");
}

TEST_F(Reader, MissingWeights) {
  fs::remove(file(kWeightsFile));
  expectError(ErrorKind::Corrupt, "weights.safetensors is missing");
}

TEST_F(Reader, LinksAreRefused) {
  fs::rename(file(kWeightsFile), inScratch("elsewhere"));
  fs::create_symlink(inScratch("elsewhere"), file(kWeightsFile));
  expectError(ErrorKind::Corrupt, "no link");
}

TEST_F(Reader, EveryTruncationIsNoticed) {
  for (std::string_view name : {kManifestFile, kProgramFile, kWeightsFile}) {
    std::string whole = readText(file(name));
    for (size_t length = 0; length + 2 < whole.size(); length += 1 + whole.size() / 50) {
      writeText(file(name), whole.substr(0, length));
      Result<Asset> asset = readAsset(path);
      ASSERT_FALSE(asset) << name << " of " << length << " bytes";
      EXPECT_EQ(asset.error().kind, ErrorKind::Corrupt) << asset.error().str();
    }
    writeText(file(name), whole);
  }
  EXPECT_TRUE(readAsset(path));
}

TEST_F(Reader, EveryFlippedBitIsNoticed) {
  for (std::string_view name : {kManifestFile, kProgramFile, kWeightsFile}) {
    std::string whole = readText(file(name));
    for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 400) {
      std::string flipped = whole;
      flipped[at] ^= static_cast<char>(1 << (at % 8));
      writeText(file(name), flipped);
      Result<Asset> asset = readAsset(path);
      // Blanks between members are no content: changing one to another blank changes nothing.
      if (asset)
        EXPECT_TRUE(name == kManifestFile && std::isspace(whole[at])) << name << " at " << at;
    }
    writeText(file(name), whole);
  }
}

TEST_F(Reader, StructureDoesNotReadTheData) {
  std::string whole = readText(file(kWeightsFile));
  whole.back() = 'x';
  writeText(file(kWeightsFile), whole);
  EXPECT_TRUE(readAsset(path, Verify::Structure));
  expectError(ErrorKind::Corrupt, "is damaged");
}

TEST_F(Reader, WeightThatTheFileLacks) {
  // A consistent asset whose manifest names a key that is not there: swap in another weights file.
  Sample other;
  other.content.manifest.weights.erase("table");
  other.content.manifest.entryPoints[0].states.clear();
  other.content.weights.pop_back();
  ASSERT_TRUE(writeAsset(inScratch("other.ingot"), other.content));
  fs::copy_file(inScratch("other.ingot/weights.safetensors"), file(kWeightsFile), fs::copy_options::overwrite_existing);
  Manifest manifest = readManifest(path)->manifest;
  manifest.files = readManifest(inScratch("other.ingot"))->manifest.files;
  writeText(file(kManifestFile), manifestText(manifest));
  expectError(ErrorKind::Corrupt, "weight 'table' is missing");
}

TEST_F(Reader, LooksLikeAsset) {
  EXPECT_TRUE(looksLikeAsset(path));
  EXPECT_FALSE(looksLikeAsset(scratch));
  EXPECT_FALSE(looksLikeAsset(file(kManifestFile)));
  EXPECT_FALSE(looksLikeAsset(inScratch("nothing")));
}

} // namespace
