#include "asset/Cache.h"

#include "Fixture.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::asset;
using namespace ingot::asset::test;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

constexpr const char *key = "x86-64-v4";

class Cache : public ScratchTest {
protected:
  Cache() {
    path = inScratch("m.ingot");
    EXPECT_TRUE(writeAsset(path, Sample().content));
    asset = *readAsset(path);
    ::setenv("XDG_CACHE_HOME", inScratch("user-cache").c_str(), 1);
  }

  Result<Specialisation> save(const std::string &plan = "{}", const std::string &kernels = "code") {
    INGOT_TRY(SpecialisationWriter writer, SpecialisationWriter::begin(asset, key));
    writeText(writer.folder() + "/plan.json", plan);
    if (!kernels.empty())
      writeText(writer.folder() + "/kernels.so", kernels);
    return writer.commit();
  }
  bool isFound() { return findSpecialisation(asset, key)->has_value(); }

  std::string path;
  Asset asset;
};

TEST_F(Cache, RoundTrip) {
  EXPECT_FALSE(isFound());
  Result<Specialisation> saved = save();
  ASSERT_TRUE(saved) << saved.error().str();
  Specialisation found = **findSpecialisation(asset, key);
  EXPECT_EQ(found.folder, path + "/cache/" + key);
  EXPECT_EQ(found.planText(), "{}");
  EXPECT_EQ(readText(found.kernels), "code");
  EXPECT_THAT(listSpecialisations(asset), ElementsAre(key));
  EXPECT_TRUE(readAsset(path)) << "a cache does not change the asset";
}

TEST_F(Cache, KernelsMayBeAbsent) {
  ASSERT_TRUE(save("{}", ""));
  EXPECT_EQ((*findSpecialisation(asset, key))->kernels, "");
}

TEST_F(Cache, NothingStaysWithoutACommit) {
  {
    ASSERT_TRUE(SpecialisationWriter::begin(asset, key));
  }
  EXPECT_TRUE(fs::is_empty(path + "/cache"));
}

TEST_F(Cache, DamagedEntriesAreIgnoredAndReplaced) {
  for (const char *name : {"plan.json", "kernels.so", "meta.json"}) {
    ASSERT_TRUE(save());
    ASSERT_TRUE(isFound());
    writeText(path + "/cache/" + key + "/" + name, "{\"files\": 3}");
    EXPECT_FALSE(isFound()) << name;
    ASSERT_TRUE(save());
    EXPECT_TRUE(isFound()) << name;
    fs::remove(path + "/cache/" + key + "/" + name);
    EXPECT_FALSE(isFound()) << name;
  }
}

TEST_F(Cache, AnotherProgramsEntryIsIgnored) {
  ASSERT_TRUE(save());
  asset.manifest.files.find(kProgramFile)->second.checksum = {1, 2};
  EXPECT_FALSE(isFound());
}

TEST_F(Cache, AnotherVersionsEntryIsIgnored) {
  ASSERT_TRUE(save());
  std::string meta = path + "/cache/" + key + "/meta.json";
  std::string text = readText(meta);
  text.replace(text.find("\"ingot\": \"") + 10, 1, "9");
  writeText(meta, text);
  EXPECT_FALSE(isFound());
}

TEST_F(Cache, AnotherCpusEntryIsIgnored) {
  ASSERT_TRUE(save());
  fs::rename(path + "/cache/" + key, path + "/cache/other");
  EXPECT_FALSE(findSpecialisation(asset, "other")->has_value());
}

TEST_F(Cache, WhatOthersCouldHaveWrittenIsIgnored) {
  const std::string entry = path + "/cache/" + key;
  for (const std::string &shared : {path + "/cache", entry, entry + "/kernels.so", entry + "/plan.json"}) {
    ASSERT_TRUE(save());
    ASSERT_TRUE(isFound());
    fs::permissions(shared, fs::perms::others_write, fs::perm_options::add);
    EXPECT_FALSE(isFound()) << shared;
    fs::permissions(shared, fs::perms::others_write, fs::perm_options::remove);
    EXPECT_TRUE(isFound()) << shared;
    if (::geteuid() != 0)
      continue;
    ASSERT_EQ(::chown(shared.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(isFound()) << shared;
    ASSERT_EQ(::chown(shared.c_str(), 0, 0), 0);
  }
}

TEST_F(Cache, IsUsedWhereGroupsMayWriteNewFiles) {
  const mode_t before = ::umask(0002);
  const bool isSaved = static_cast<bool>(save());
  ::umask(before);
  ASSERT_TRUE(isSaved);
  EXPECT_TRUE(isFound());
}

TEST_F(Cache, FilesThatTheGroupMayWriteAreIgnored) {
  ASSERT_TRUE(save());
  for (const char *name : {"kernels.so", "plan.json", "meta.json"}) {
    const std::string file = path + "/cache/" + key + "/" + name;
    fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
    EXPECT_FALSE(isFound()) << file;
    fs::permissions(file, fs::perms::group_write, fs::perm_options::remove);
    EXPECT_TRUE(isFound()) << file;
  }
}

TEST_F(Cache, LinksAreIgnored) {
  ASSERT_TRUE(save());
  fs::rename(path + "/cache", inScratch("elsewhere"));
  fs::create_directory_symlink(inScratch("elsewhere"), path + "/cache");
  EXPECT_FALSE(isFound());
}

TEST_F(Cache, LinksThatCameWithTheAssetAreReplacedAndNotFollowed) {
  const std::string entry = path + "/cache/" + key, precious = inScratch("precious");
  fs::create_directories(path + "/cache");
  fs::create_directory(precious);
  writeText(precious + "/file", "mine");
  for (const std::string &target : {precious, precious + "/file", std::string("../.."), inScratch("nothing")}) {
    fs::remove_all(entry);
    fs::create_symlink(target, entry);
    Result<Specialisation> saved = save();
    ASSERT_TRUE(saved) << target << ": " << saved.error().str();
    EXPECT_TRUE(isFound()) << target;
    EXPECT_TRUE(fs::is_directory(fs::symlink_status(entry))) << target;
    EXPECT_EQ(readText(precious + "/file"), "mine") << target;
    EXPECT_TRUE(readAsset(path)) << target;
    EXPECT_FALSE(fs::exists(inScratch("nothing")));
  }
}

TEST_F(Cache, AnOpenUmaskDoesNotMatter) {
  const mode_t before = ::umask(0);
  Result<Specialisation> saved = save();
  ::umask(before);
  ASSERT_TRUE(saved) << saved.error().str();
  EXPECT_EQ(saved->folder, path + "/cache/" + key);
  EXPECT_TRUE(isFound());
}

TEST_F(Cache, TheUsersCacheAloneOnRequest) {
  ASSERT_TRUE(save());
  ::setenv("INGOT_CACHE", "user", 1);
  EXPECT_FALSE(isFound());
  Result<Specialisation> saved = save();
  EXPECT_TRUE(saved && isFound());
  ::unsetenv("INGOT_CACHE");
  ASSERT_TRUE(saved) << saved.error().str();
  EXPECT_THAT(saved->folder, HasSubstr("user-cache/ingot/"));
}

TEST_F(Cache, ReadOnlyAssetUsesTheUsersCache) {
  // Root may write anywhere, so a plain file where the folder should be stands in for "cannot".
  writeText(path + "/cache", "in the way");
  Result<Specialisation> saved = save();
  ASSERT_TRUE(saved) << saved.error().str();
  EXPECT_THAT(saved->folder, HasSubstr("user-cache/ingot/" + asset.checksum.hex()));
  EXPECT_TRUE(isFound());
}

TEST_F(Cache, NowhereToWriteIsAnError) {
  writeText(path + "/cache", "in the way");
  writeText(inScratch("user-cache"), "in the way");
  Result<Specialisation> saved = save();
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::Io);
  EXPECT_THAT(saved.error().str(), HasSubstr("XDG_CACHE_HOME"));
}

TEST_F(Cache, KeysAreFolderNames) {
  for (const char *bad : {"", "..", "a/b", ".x", "a b"})
    EXPECT_FALSE(findSpecialisation(asset, bad)) << bad;
}

TEST_F(Cache, ManyProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool good = true;
      for (int round = 0; round < 10 && good; ++round)
        good = static_cast<bool>(save()) && isFound();
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_TRUE(isFound());
  EXPECT_THAT(listSpecialisations(asset), ElementsAre(key));
}

} // namespace
