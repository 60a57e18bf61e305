#include "asset/Reader.h"

#include "asset/HashingFile.h"
#include "asset/Staging.h"
#include "base/Bytes.h"
#include "base/Json.h"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

using namespace ingot;
using namespace ingot::asset;

namespace {

std::string join(const std::string &folder, std::string_view name) { return folder + "/" + std::string(name); }

Error notAnAsset(const std::string &path, const std::string &why) {
  return corruptError("'" + path + "' is not an Ingot asset: " + why);
}

/// Says what `path` is when it is no directory.
Status checkDirectory(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    Error failure = errnoError("cannot open '" + path + "'");
    std::string aside = errno == ENOENT ? findSetAside(resolveTarget(path)) : std::string();
    if (!aside.empty())
      return std::move(failure).note("a save was interrupted; the previous asset is at '" + aside + "'");
    return failure;
  }
  if (S_ISDIR(info.st_mode))
    return {};
  Error failure = notAnAsset(path, "an asset is a directory, this is a file");
  if (path.ends_with(".pt2"))
    return std::move(failure).note("convert it first: ingot convert " + path + " -o NAME.ingot");
  return failure;
}

/// Maps a file of the asset. A link could lead out of it, so there must be none.
Result<std::shared_ptr<MappedFile>> mapMember(const std::string &folder, std::string_view name) {
  std::string path = join(folder, name);
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT)
      return corruptError("'" + folder + "' is incomplete: " + std::string(name) + " is missing");
    return errnoError("cannot open '" + path + "'");
  }
  if (!S_ISREG(info.st_mode))
    return corruptError("'" + path + "' should be a plain file, and no link");
  return MappedFile::open(path);
}

Status checkContent(const MappedFile &file, const FileInfo &listed) {
  if (hashMapped(file.bytes()) != listed.checksum)
    return corruptError("'" + file.path() + "' is damaged: its checksum does not match the manifest");
  return {};
}

Result<std::shared_ptr<MappedFile>> mapListed(const std::string &folder, std::string_view name,
                                              const FileInfo &listed) {
  INGOT_TRY(std::shared_ptr<MappedFile> file, mapMember(folder, name));
  std::string path = join(folder, name);
  if (file->bytes().size() != listed.size)
    return corruptError("'" + path + "' has " + std::to_string(file->bytes().size()) + " bytes, the manifest says " +
                        std::to_string(listed.size) + ": the file is truncated or was changed");
  return file;
}

Status checkWeights(const Asset &asset) {
  for (const auto &[name, key] : asset.manifest.weights)
    if (!asset.weights.find(key))
      return corruptError("weight '" + name + "' is missing: " + std::string(kWeightsFile) + " has no '" + key + "'")
          .note("while reading '" + asset.path + "'");
  return {};
}

} // namespace

const SafeTensor *Asset::findWeight(std::string_view name) const {
  auto found = manifest.weights.find(name);
  return found == manifest.weights.end() ? nullptr : weights.find(found->second);
}

const EntryPoint *Asset::findEntryPoint(std::string_view name) const {
  auto found = std::ranges::find(manifest.entryPoints, name, &EntryPoint::name);
  return found == manifest.entryPoints.end() ? nullptr : &*found;
}

Result<CheckedManifest> asset::readManifest(const std::string &path) {
  INGOT_CHECK(checkDirectory(path));
  struct stat info;
  if (::lstat(join(path, kManifestFile).c_str(), &info) != 0 && errno == ENOENT)
    return notAnAsset(path, "it has no " + std::string(kManifestFile));
  INGOT_TRY(std::shared_ptr<MappedFile> file, mapMember(path, kManifestFile));
  Result<CheckedManifest> manifest = parseManifest(asText(file->bytes()));
  if (!manifest)
    return std::move(manifest.error()).note("while reading '" + join(path, kManifestFile) + "'");
  return manifest;
}

Result<Asset> asset::readAsset(const std::string &path, Verify verify) {
  INGOT_TRY(CheckedManifest checked, readManifest(path));
  Asset asset;
  asset.path = path;
  asset.manifest = std::move(checked.manifest);
  asset.checksum = checked.checksum;
  std::shared_ptr<MappedFile> weights;
  for (const auto &[name, listed] : asset.manifest.files) {
    INGOT_TRY(std::shared_ptr<MappedFile> file, mapListed(path, name, listed));
    asset.files.emplace_back(name, file);
    if (name == kProgramFile)
      asset.program = std::move(file);
    else if (name == kWeightsFile)
      weights = std::move(file);
  }
  Result<SafeTensors> tensors = parseSafeTensors(weights->bytes());
  if (!tensors)
    return std::move(tensors.error()).note("while reading '" + weights->path() + "'");
  asset.weights = *std::move(tensors);
  asset.weights.memory = std::move(weights);
  if (verify == Verify::Everything)
    INGOT_CHECK(checkContents(asset));
  INGOT_CHECK(checkWeights(asset));
  return asset;
}

Status asset::checkContents(const Asset &asset) {
  for (const auto &[name, file] : asset.files)
    INGOT_CHECK(checkContent(*file, asset.manifest.files.find(name)->second));
  return {};
}

bool asset::looksLikeAsset(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return false;
  Result<std::shared_ptr<MappedFile>> file = mapMember(path, kManifestFile);
  if (!file)
    return false;
  Result<nlohmann::json> document = parseJson(asText((*file)->bytes()), 64);
  return document && document->is_object() && document->value("format", nlohmann::json()) == kFormatName;
}
