// Opening assets. Everything is checked before anything is handed out; nothing is copied.
#pragma once

#include "asset/Format.h"
#include "base/MappedFile.h"
#include "base/SafeTensors.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ingot::asset {

/// An open asset. Copies share the mapped files.
struct Asset {
  std::string path;
  Manifest manifest;
  Hash128 checksum; ///< of the manifest, and so of everything; identifies the asset
  std::shared_ptr<MappedFile> program;
  std::vector<std::pair<std::string, std::shared_ptr<MappedFile>>> files; ///< all that the manifest lists
  SafeTensors weights;                                                    ///< by key, see Manifest::weights

  std::span<const std::byte> programBytes() const { return program->bytes(); }
  /// The weight of this name in the program; null if there is none.
  const SafeTensor *findWeight(std::string_view name) const;
  const EntryPoint *findEntryPoint(std::string_view name) const;
};

enum class Verify {
  Everything, ///< also the checksums of all data; reads every byte once
  Structure,  ///< manifest, sizes and headers: for looking at an asset, not for running it
};

Result<Asset> readAsset(const std::string &path, Verify verify = Verify::Everything);

/// What Verify::Everything does more than Verify::Structure.
Status checkContents(const Asset &asset);

/// The manifest of the directory `path`, without looking at other files.
Result<CheckedManifest> readManifest(const std::string &path);

/// Whether `path` is a directory that claims to be an asset, damaged or not.
bool looksLikeAsset(const std::string &path);

} // namespace ingot::asset
