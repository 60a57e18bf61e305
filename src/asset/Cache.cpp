#include "asset/Cache.h"

#include "asset/HashingFile.h"
#include "base/Bytes.h"
#include "base/Json.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::asset;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

Status checkKey(std::string_view key) {
  auto isPlain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.'; };
  if (key.empty() || key.front() == '.' || !std::ranges::all_of(key, isPlain))
    return internalError("'" + std::string(key) + "' cannot name a folder for a CPU");
  return {};
}

std::string ownCache(const Asset &asset) { return asset.path + "/" + std::string(kCacheFolder); }

/// Empty when the environment names no place for it.
std::string userCache(const Asset &asset) {
  const char *base = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  std::string root;
  if (base && *base == '/')
    root = base;
  else if (home && *home == '/')
    root = std::string(home) + "/.cache";
  return root.empty() ? root : root + "/ingot/" + asset.checksum.hex();
}

/// Compiled code of somebody else is not run. Only who may already change what this user runs could have written here.
bool isOurs(const struct stat &info) {
  const bool isOwned = info.st_uid == ::geteuid() || info.st_uid == 0;
  // Others may add to a folder with the sticky bit, but not replace what is there.
  const bool isShared = (info.st_mode & S_IWOTH) && !(S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX));
  return isOwned && !isShared;
}

bool isOurFolder(const std::string &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && isOurs(info);
}

/// INGOT_CACHE=user: what lies in assets is neither used nor written.
bool usesOwnCache() {
  const char *setting = std::getenv("INGOT_CACHE");
  return !setting || std::string_view(setting) != "user";
}

struct Meta {
  std::string ingotVersion;
  std::string cpuKey;
  Hash128 program;
  NameMap<FileInfo> files;
};

std::string metaText(const Meta &meta) {
  json files = json::object();
  for (const auto &[name, file] : meta.files)
    files[name] = {{"size", file.size}, {"xxh3_128", file.checksum.hex()}};
  json value = {{"ingot", meta.ingotVersion},
                {"format", kCacheFormat},
                {"cpu", meta.cpuKey},
                {"program", meta.program.hex()},
                {"files", std::move(files)}};
  return value.dump(1) + "\n";
}

std::shared_ptr<MappedFile> mapChecked(const std::string &folder, const std::string &name, const json &files) {
  auto listed = files.find(name);
  if (listed == files.end() || !listed->is_object())
    return nullptr;
  std::shared_ptr<MappedFile> file = mapCacheFile(folder + "/" + name);
  if (!file || listed->value("size", json()) != file->bytes().size() ||
      listed->value("xxh3_128", json()) != hashBytes(file->bytes()).hex())
    return nullptr;
  return file;
}

Hash128 programChecksum(const Asset &asset) { return asset.manifest.files.find(kProgramFile)->second.checksum; }

bool fits(const json &meta, const Asset &asset, std::string_view cpuKey) {
  return meta.is_object() && meta.value("ingot", json()) == INGOT_VERSION &&
         meta.value("format", json()) == kCacheFormat && meta.value("cpu", json()) == cpuKey &&
         meta.value("program", json()) == programChecksum(asset).hex() && meta.value("files", json()).is_object();
}

std::optional<Specialisation> readEntry(const Asset &asset, const std::string &cache, std::string_view cpuKey) {
  const std::string folder = cache + "/" + std::string(cpuKey);
  if (!isOurFolder(cache) || !isOurFolder(folder))
    return std::nullopt;
  std::shared_ptr<MappedFile> metaFile = mapCacheFile(folder + "/" + std::string(kMetaFile));
  if (!metaFile)
    return std::nullopt;
  Result<json> meta = parseJson(asText(metaFile->bytes()), 8);
  if (!meta || !fits(*meta, asset, cpuKey))
    return std::nullopt;
  const json &files = (*meta)["files"];
  Specialisation entry;
  entry.folder = folder;
  entry.plan = mapChecked(folder, std::string(kPlanFile), files);
  if (!entry.plan)
    return std::nullopt;
  if (std::string name(kKernelsFile); files.contains(name)) {
    if (!mapChecked(folder, name, files))
      return std::nullopt;
    entry.kernels = folder + "/" + name;
  }
  return entry;
}

Result<Staging> stageIn(const std::string &cache, std::string_view cpuKey) {
  std::error_code failure;
  if (fs::create_directories(cache, failure))
    fs::permissions(cache, fs::perms::others_write, fs::perm_options::remove, failure);
  if (failure)
    return ioError("cannot create '" + cache + "': " + failure.message());
  if (!isOurFolder(cache))
    return ioError("'" + cache + "' belongs to somebody else, or everybody may write to it");
  return Staging::create(cache + "/" + std::string(cpuKey), Staging::Links::Replace);
}

/// Whatever the umask says: an entry that others may write to would not be used.
Status closeToOthers(const std::string &folder) {
  std::error_code failure;
  const auto others = fs::perms::group_write | fs::perms::others_write;
  fs::permissions(folder, others, fs::perm_options::remove, failure);
  for (fs::directory_iterator item(folder, failure), end; !failure && item != end; item.increment(failure))
    fs::permissions(item->path(), others, fs::perm_options::remove, failure);
  if (failure)
    return ioError("cannot set the permissions of '" + folder + "': " + failure.message());
  return {};
}

Result<FileInfo> hashFile(const std::string &path) {
  INGOT_TRY(std::shared_ptr<MappedFile> file, MappedFile::open(path));
  return FileInfo{file->bytes().size(), hashBytes(file->bytes())};
}

} // namespace

std::shared_ptr<MappedFile> asset::mapCacheFile(const std::string &path) {
  struct stat info;
  // Unlike in folders, whose files are looked at each by itself, nobody of the group may write here.
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || !isOurs(info) || (info.st_mode & S_IWGRP))
    return nullptr;
  Result<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  return file ? *std::move(file) : nullptr;
}

std::string_view Specialisation::planText() const { return asText(plan->bytes()); }

Result<std::optional<Specialisation>> asset::findSpecialisation(const Asset &asset, std::string_view cpuKey) {
  INGOT_CHECK(checkKey(cpuKey));
  for (const std::string &cache : {usesOwnCache() ? ownCache(asset) : "", userCache(asset)})
    if (!cache.empty())
      if (std::optional<Specialisation> entry = readEntry(asset, cache, cpuKey))
        return entry;
  return std::optional<Specialisation>();
}

Result<SpecialisationWriter> SpecialisationWriter::begin(const Asset &asset, std::string_view cpuKey) {
  INGOT_CHECK(checkKey(cpuKey));
  Result<Staging> staging =
      usesOwnCache() ? stageIn(ownCache(asset), cpuKey)
                     : Result<Staging>(ioError("the cache in the asset is not used: INGOT_CACHE=user forbids it"));
  if (staging)
    return SpecialisationWriter(asset, std::string(cpuKey), *std::move(staging));
  std::string fallback = userCache(asset);
  if (fallback.empty())
    return std::move(staging.error()).note("set XDG_CACHE_HOME to a folder that can be written to");
  Result<Staging> elsewhere = stageIn(fallback, cpuKey);
  if (elsewhere)
    return SpecialisationWriter(asset, std::string(cpuKey), *std::move(elsewhere));
  return std::move(elsewhere.error())
      .note("nor can it be written into the asset: " + staging.error().message)
      .note("set XDG_CACHE_HOME to a folder that can be written to");
}

Result<Specialisation> SpecialisationWriter::commit() {
  Meta meta{INGOT_VERSION, cpuKey, programChecksum(asset), {}};
  const std::string cache = fs::path(staging.target()).parent_path().string();
  INGOT_TRY(FileInfo plan, hashFile(folder() + "/" + std::string(kPlanFile)));
  meta.files.emplace(kPlanFile, plan);
  std::error_code failure;
  if (std::string kernels = folder() + "/" + std::string(kKernelsFile); fs::exists(kernels, failure)) {
    INGOT_TRY(FileInfo info, hashFile(kernels));
    meta.files.emplace(kKernelsFile, info);
  }
  INGOT_TRY(FileInfo written, writeHashed(folder() + "/" + std::string(kMetaFile), asBytes(metaText(meta))));
  (void)written;
  INGOT_CHECK(closeToOthers(folder()));
  // Another process may have been quicker. Its files may be in use, so a good entry is kept.
  if (std::optional<Specialisation> entry = readEntry(asset, cache, cpuKey))
    return *std::move(entry);
  Status published = staging.publish(Staging::Existing::Replace);
  // It may also win between the look above and now; then its entry serves as well as ours.
  if (std::optional<Specialisation> entry = readEntry(asset, cache, cpuKey))
    return *std::move(entry);
  INGOT_CHECK(std::move(published));
  return ioError("'" + staging.target() + "' changed while it was written");
}

std::vector<std::string> asset::listSpecialisations(const Asset &asset) {
  std::vector<std::string> keys;
  std::error_code failure;
  for (fs::directory_iterator item(ownCache(asset), failure), end; !failure && item != end; item.increment(failure))
    if (std::string name = item->path().filename().string(); name.front() != '.')
      keys.push_back(std::move(name));
  std::ranges::sort(keys);
  return keys;
}
