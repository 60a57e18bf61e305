// Assets written by earlier versions, kept as they were: tests/compat/vN/NAME.ingot. All must stay readable.
#include "asset/Reader.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace ingot;
using namespace ingot::asset;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> frozenAssets() {
  std::vector<std::string> paths;
  std::error_code failure; // the test runs in the repository's root
  for (fs::recursive_directory_iterator item("tests/compat", failure), end; !failure && item != end;
       item.increment(failure))
    if (item->is_directory() && item->path().extension() == ".ingot")
      paths.push_back(item->path().string());
  return paths;
}

TEST(Compat, FrozenAssetsAreReadable) {
  for (const std::string &path : frozenAssets()) {
    Result<Asset> asset = readAsset(path);
    EXPECT_TRUE(asset) << path << ": " << (asset ? "" : asset.error().str());
  }
}

TEST(Compat, EveryMajorVersionHasAFixture) {
  EXPECT_FALSE(frozenAssets().empty());
  for (int64_t major = 1; major <= kFormatMajor; ++major)
    EXPECT_TRUE(fs::is_directory("tests/compat/v" + std::to_string(major))) << major;
}

} // namespace
