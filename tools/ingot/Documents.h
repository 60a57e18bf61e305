// Graph documents where a command takes an asset or a program.
#pragma once

#include "base/Json.h"
#include "base/Result.h"

#include <string>
#include <vector>

namespace ingot::cli {

/// Names weights that the document doesn't know on stderr: they may be a mistake, and may belong to another part.
Status noteUnknownWeights(const std::string &document, const std::vector<std::string> &weightFiles);

/// An asset that goes when the command is done.
class TemporaryAsset {
public:
  /// Converts a .pt2 file, or a graph document and its weights.
  static Result<TemporaryAsset> convert(const std::string &program, const std::vector<std::string> &weightFiles,
                                        bool fallback);
  /// Likewise with options of the compiler.
  static Result<TemporaryAsset> convert(const std::string &program, const nlohmann::json &options);
  ~TemporaryAsset();
  TemporaryAsset(TemporaryAsset &&other) noexcept : folder(std::move(other.folder)) { other.folder.clear(); }
  TemporaryAsset &operator=(TemporaryAsset &&) = delete;

  std::string path() const { return folder + "/program.ingot"; }

private:
  explicit TemporaryAsset(std::string folder) : folder(std::move(folder)) {}

  std::string folder;
};

} // namespace ingot::cli
