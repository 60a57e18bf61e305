#include "asset/Writer.h"

#include "asset/HashingFile.h"
#include "asset/Reader.h"
#include "asset/Staging.h"
#include "asset/WeightsWriter.h"
#include "base/Bytes.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

using namespace ingot;
using namespace ingot::asset;
namespace fs = std::filesystem;

namespace {

/// Replacing deletes the old directory, so it must hold nothing but an asset.
Status checkReplaceable(const std::string &path) {
  Error refusal = usageError("'" + path + "' exists and is not an Ingot asset; it is not replaced");
  if (!looksLikeAsset(path))
    return std::move(refusal).note("choose another name, or remove it yourself");
  static constexpr std::array known = {kManifestFile, kProgramFile, kWeightsFile, kCacheFolder};
  std::error_code failure;
  for (fs::directory_iterator item(path, failure), end; !failure && item != end; item.increment(failure)) {
    std::string name = item->path().filename().string();
    if (std::ranges::find(known, name) == known.end())
      return usageError("'" + path + "' is not replaced: it also holds '" + name + "', which is no part of an asset")
          .note("move that away first");
  }
  if (failure)
    return ioError("cannot read '" + path + "': " + failure.message());
  return {};
}

Status checkContent(const Content &content) {
  std::set<std::string_view> keys;
  for (const WeightSource &weight : content.weights)
    keys.insert(weight.key);
  for (const auto &[name, key] : content.manifest.weights)
    if (!keys.contains(key))
      return internalError("weight '" + name + "' has no data: there is no '" + key + "'");
  return {};
}

Error saveError(Error failure, const std::string &path) {
  return std::move(failure).note("while saving '" + path + "'");
}

Status fillFolder(const std::string &folder, const Content &content) {
  INGOT_CHECK(checkContent(content));
  Manifest manifest = content.manifest;
  manifest.version = {};
  if (manifest.ingotVersion.empty())
    manifest.ingotVersion = INGOT_VERSION;
  manifest.files.clear();
  auto pathOf = [&](std::string_view name) { return folder + "/" + std::string(name); };
  INGOT_TRY(FileInfo program, writeHashed(pathOf(kProgramFile), content.program));
  INGOT_TRY(FileInfo weights, writeWeights(pathOf(kWeightsFile), content.weights));
  manifest.files.emplace(kProgramFile, program);
  manifest.files.emplace(kWeightsFile, weights);
  std::string text = manifestText(manifest);
  // What we write, we must be able to read: a manifest that fails here is a bug, not the user's file.
  if (Result<CheckedManifest> parsed = parseManifest(text); !parsed)
    return internalError("the manifest to be saved is not valid: " + parsed.error().str());
  INGOT_TRY(FileInfo written, writeHashed(pathOf(kManifestFile), asBytes(text)));
  (void)written;
  return {};
}

Status publish(Staging &staging, const SaveOptions &options) {
  // Asked again: the directory may have appeared during the long write.
  INGOT_CHECK(checkSavable(staging.target(), options));
  return staging.publish(options.overwrite ? Staging::Existing::Replace : Staging::Existing::Refuse);
}

} // namespace

Status asset::checkSavable(const std::string &path, const SaveOptions &options) {
  if (path.empty())
    return usageError("the path to save to is empty");
  std::string target = resolveTarget(path);
  std::error_code failure;
  fs::path parent = fs::path(target).parent_path();
  if (!parent.empty() && !fs::is_directory(parent, failure))
    return ioError("cannot save to '" + path + "': there is no folder '" + parent.string() + "'");
  if (!fs::exists(fs::symlink_status(target, failure)))
    return {};
  if (options.overwrite)
    return checkReplaceable(target);
  return usageError("'" + path + "' already exists")
      .note("pass --overwrite (in Python: overwrite=True) to replace it, or choose another name");
}

Status asset::writeAsset(const std::string &path, const Content &content, const SaveOptions &options) {
  INGOT_CHECK(checkSavable(path, options));
  INGOT_TRY(Staging staging, Staging::create(path));
  if (Status filled = fillFolder(staging.folder(), content); !filled)
    return saveError(std::move(filled.error()), path);
  return publish(staging, options);
}

Status asset::copyAsset(const std::string &from, const std::string &to, const SaveOptions &options) {
  INGOT_CHECK(checkSavable(to, options));
  INGOT_TRY(Asset source, readAsset(from, Verify::Structure));
  INGOT_TRY(Staging staging, Staging::create(to));
  // std::filesystem uses copy_file_range: shared blocks where the file system has them, no user memory.
  std::vector<std::string> names = {std::string(kManifestFile), std::string(kCacheFolder)};
  for (const auto &[name, file] : source.manifest.files)
    names.push_back(name);
  for (const std::string &name : names) {
    std::error_code failure;
    if (name == kCacheFolder && !fs::exists(from + "/" + name, failure))
      continue;
    fs::copy(from + "/" + name, staging.folder() + "/" + name, fs::copy_options::recursive, failure);
    if (failure)
      return ioError("cannot copy '" + from + "/" + name + "': " + failure.message()).note("while saving '" + to + "'");
  }
  return publish(staging, options);
}
