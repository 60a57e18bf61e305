#include "asset/Cache.h"

#include "asset/HashingFile.h"
#include "base/Bytes.h"
#include "base/Json.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

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

struct Meta {
  std::string ingotVersion;
  Hash128 program;
  NameMap<FileInfo> files;
};

std::string metaText(const Meta &meta) {
  json files = json::object();
  for (const auto &[name, file] : meta.files)
    files[name] = {{"size", file.size}, {"xxh3_128", file.checksum.hex()}};
  json value = {{"ingot", meta.ingotVersion}, {"program", meta.program.hex()}, {"files", std::move(files)}};
  return value.dump(1) + "\n";
}

/// Null whenever something is not as it should be: then the entry is simply made anew.
std::shared_ptr<MappedFile> mapPlain(const std::string &path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return nullptr;
  Result<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  return file ? *std::move(file) : nullptr;
}

std::shared_ptr<MappedFile> mapChecked(const std::string &folder, const std::string &name, const json &files) {
  auto listed = files.find(name);
  if (listed == files.end() || !listed->is_object())
    return nullptr;
  std::shared_ptr<MappedFile> file = mapPlain(folder + "/" + name);
  if (!file || listed->value("size", json()) != file->bytes().size() ||
      listed->value("xxh3_128", json()) != hashBytes(file->bytes()).hex())
    return nullptr;
  return file;
}

Hash128 programChecksum(const Asset &asset) { return asset.manifest.files.find(kProgramFile)->second.checksum; }

std::optional<Specialisation> readEntry(const Asset &asset, const std::string &folder) {
  std::shared_ptr<MappedFile> metaFile = mapPlain(folder + "/" + std::string(kMetaFile));
  if (!metaFile)
    return std::nullopt;
  Result<json> meta = parseJson(asText(metaFile->bytes()), 8);
  if (!meta || !meta->is_object() || meta->value("ingot", json()) != INGOT_VERSION ||
      meta->value("program", json()) != programChecksum(asset).hex() || !meta->value("files", json()).is_object())
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
  fs::create_directories(cache, failure);
  if (failure)
    return ioError("cannot create '" + cache + "': " + failure.message());
  return Staging::create(cache + "/" + std::string(cpuKey));
}

Result<FileInfo> hashFile(const std::string &path) {
  INGOT_TRY(std::shared_ptr<MappedFile> file, MappedFile::open(path));
  return FileInfo{file->bytes().size(), hashBytes(file->bytes())};
}

} // namespace

std::string_view Specialisation::planText() const { return asText(plan->bytes()); }

Result<std::optional<Specialisation>> asset::findSpecialisation(const Asset &asset, std::string_view cpuKey) {
  INGOT_CHECK(checkKey(cpuKey));
  for (const std::string &cache : {ownCache(asset), userCache(asset)})
    if (!cache.empty())
      if (std::optional<Specialisation> entry = readEntry(asset, cache + "/" + std::string(cpuKey)))
        return entry;
  return std::optional<Specialisation>();
}

Result<SpecialisationWriter> SpecialisationWriter::begin(const Asset &asset, std::string_view cpuKey) {
  INGOT_CHECK(checkKey(cpuKey));
  Result<Staging> staging = stageIn(ownCache(asset), cpuKey);
  if (staging)
    return SpecialisationWriter(asset, std::string(cpuKey), *std::move(staging));
  std::string fallback = userCache(asset);
  if (fallback.empty())
    return std::move(staging.error()).note("set XDG_CACHE_HOME to a folder that can be written to");
  Result<Staging> elsewhere = stageIn(fallback, cpuKey);
  if (elsewhere)
    return SpecialisationWriter(asset, std::string(cpuKey), *std::move(elsewhere));
  return std::move(elsewhere.error())
      .note("the asset's own cache cannot be used either: " + staging.error().message)
      .note("set XDG_CACHE_HOME to a folder that can be written to");
}

Result<Specialisation> SpecialisationWriter::commit() {
  Meta meta{INGOT_VERSION, programChecksum(asset), {}};
  INGOT_TRY(FileInfo plan, hashFile(folder() + "/" + std::string(kPlanFile)));
  meta.files.emplace(kPlanFile, plan);
  std::error_code failure;
  if (std::string kernels = folder() + "/" + std::string(kKernelsFile); fs::exists(kernels, failure)) {
    INGOT_TRY(FileInfo info, hashFile(kernels));
    meta.files.emplace(kKernelsFile, info);
  }
  INGOT_TRY(FileInfo written, writeHashed(folder() + "/" + std::string(kMetaFile), asBytes(metaText(meta))));
  (void)written;
  // Another process may have been quicker. Its files may be in use, so a good entry is kept.
  if (std::optional<Specialisation> entry = readEntry(asset, staging.target()))
    return *std::move(entry);
  Status published = staging.publish(Staging::Existing::Replace);
  // It may also win between the look above and now; then its entry serves as well as ours.
  if (std::optional<Specialisation> entry = readEntry(asset, staging.target()))
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
