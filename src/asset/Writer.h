// Saving assets: complete or not at all, whenever the process dies.
#pragma once

#include "asset/Format.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ingot::asset {

/// A weight in the caller's memory, of any strides (in elements, not negative).
struct WeightSource {
  std::string key;
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; ///< empty: contiguous
  const std::byte *data = nullptr;
};

struct Content {
  /// `files` and `version` are filled by the writer. `weights` must name keys of the list below.
  Manifest manifest;
  std::span<const std::byte> program;
  std::vector<WeightSource> weights;
};

struct SaveOptions {
  /// Replace an existing asset. What is no asset is never replaced.
  bool overwrite = false;
};

/// Whether a save to `path` would be accepted: ask before long work, the save asks again.
Status checkSavable(const std::string &path, const SaveOptions &options);

/// Weights are streamed to disk, never copied as a whole. Cleans up after earlier saves that died.
Status writeAsset(const std::string &path, const Content &content, const SaveOptions &options = {});

/// Copies the asset at `from`, with its cache, as atomically as a save.
Status copyAsset(const std::string &from, const std::string &to, const SaveOptions &options = {});

} // namespace ingot::asset
