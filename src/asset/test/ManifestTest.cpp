#include "Fixture.h"
#include "base/Json.h"

using namespace ingot;
using namespace ingot::asset;
using testing::HasSubstr;

namespace {

Manifest sampleManifest() {
  Manifest manifest = asset::test::Sample().content.manifest;
  manifest.ingotVersion = "0.1.0";
  manifest.files = {{std::string(kProgramFile), {19, {1, 2}}}, {std::string(kWeightsFile), {64, {3, 4}}}};
  return manifest;
}

/// Changes the text and makes the checksum right again, as a buggy writer would.
std::string withMember(const std::string &from, const std::string &to) {
  std::string text = manifestText(sampleManifest());
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  text.replace(at, from.size(), to);
  return text;
}

TEST(Manifest, RoundTrip) {
  Manifest manifest = sampleManifest();
  Result<CheckedManifest> parsed = parseManifest(manifestText(manifest));
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_EQ(parsed->manifest, manifest);
}

/// Version 1.1 had the new value of an argument among the outputs.
TEST(Manifest, OldWrittenArgumentsBecomeStates) {
  nlohmann::json value = nlohmann::json::parse(manifestText(sampleManifest()));
  nlohmann::json &entry = value["entry_points"][0];
  value["version"] = {1, 1};
  value.erase("checksum");
  entry["inputs"][0].erase("state");
  entry["states"].erase(1);
  entry["outputs"].push_back({{"name", "x"}, {"dtype", "float32"}, {"shape", {"s0", 5}}, {"mutates", "x"}});
  auto parse = [&] {
    nlohmann::json sealed = value;
    sealed["checksum"] = hashText(value.dump()).hex();
    return parseManifest(sealed.dump());
  };
  Result<CheckedManifest> parsed = parse();
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_EQ(parsed->manifest.entryPoints, sampleManifest().entryPoints);
  entry["outputs"].push_back(entry["outputs"][1]);
  EXPECT_FALSE(parse()) << "changed twice";
  entry["outputs"].erase(2);
  entry["outputs"][1]["mutates"] = "z";
  EXPECT_FALSE(parse());
}

TEST(Manifest, FallbackRoundTrip) {
  Manifest manifest = sampleManifest();
  manifest.requirements = {std::string(kRequiresLibtorch)};
  manifest.fallback = {{"aten::nonzero", 2, "there is no lowering for it", {"model.py:3"}}};
  Result<CheckedManifest> parsed = parseManifest(manifestText(manifest));
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_EQ(parsed->manifest, manifest);
}

TEST(Manifest, CountsCanBeAddedUp) {
  for (int64_t count : {int64_t(-1), std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    Manifest manifest = sampleManifest();
    manifest.opCounts = {{"add", count}};
    EXPECT_FALSE(parseManifest(manifestText(manifest))) << count;
  }
}

TEST(Manifest, TextIsStable) {
  Result<CheckedManifest> parsed = parseManifest(manifestText(sampleManifest()));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(manifestText(parsed->manifest), manifestText(sampleManifest()));
}

TEST(Manifest, ShapesMixNumbersAndSymbols) {
  EXPECT_THAT(entryPointsText(sampleManifest().entryPoints), HasSubstr(R"("shape":["s0",5])"));
}

TEST(Manifest, NewerMajorVersionSaysWhatToDo) {
  Manifest manifest = sampleManifest();
  manifest.version.major = kFormatMajor + 1;
  Result<CheckedManifest> parsed = parseManifest(manifestText(manifest));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(parsed.error().str(), HasSubstr("update Ingot"));
}

TEST(Manifest, NewerMinorVersionIsRead) {
  Manifest manifest = sampleManifest();
  manifest.version.minor = kFormatMinor + 1;
  EXPECT_TRUE(parseManifest(manifestText(manifest)));
}

TEST(Manifest, UnknownRequirementIsRefused) {
  Manifest manifest = sampleManifest();
  manifest.requirements = {std::string(kRequiresLibtorch), "time travel"};
  Result<CheckedManifest> parsed = parseManifest(manifestText(manifest));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(parsed.error().str(), HasSubstr("time travel"));
}

TEST(Manifest, EditsAreNoticed) {
  Result<CheckedManifest> parsed = parseManifest(withMember("\"a.weight\"", "\"a_weight\""));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind, ErrorKind::Corrupt);
  EXPECT_THAT(parsed.error().str(), HasSubstr("checksum"));
}

TEST(Manifest, ForeignJsonIsNamedSo) {
  for (const char *text : {"{}", "[]", "3", R"({"format": "other"})", R"({"format": 1})"}) {
    Result<CheckedManifest> parsed = parseManifest(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::Corrupt);
    EXPECT_THAT(parsed.error().str(), HasSubstr("not the manifest")) << text;
  }
}

TEST(Manifest, FilesStayInside) {
  for (const char *name : {"../x", "/etc/passwd", "a/b", ".hidden", "cache", "manifest.json", ""}) {
    Manifest manifest = sampleManifest();
    manifest.files[name] = {};
    Result<CheckedManifest> parsed = parseManifest(manifestText(manifest));
    ASSERT_FALSE(parsed) << name;
    EXPECT_THAT(parsed.error().str(), HasSubstr("plain file name"));
  }
}

TEST(Manifest, EveryMissingMemberIsAnError) {
  for (const char *key : {"ingot", "torch", "entry_points", "weights", "ops", "files", "requirements", "version"}) {
    std::string quoted = '"' + std::string(key) + '"';
    EXPECT_FALSE(parseManifest(withMember(quoted + ":", "\"no\":"))) << key;
  }
}

TEST(Manifest, StatesNeedTheirWeight) {
  Manifest manifest = sampleManifest();
  manifest.weights.erase("table");
  Result<CheckedManifest> parsed = parseManifest(manifestText(manifest));
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().str(), HasSubstr("'cache'"));
}

} // namespace
