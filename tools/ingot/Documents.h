// Graph documents where a command takes an asset or a program.
#pragma once

#include "base/Json.h"
#include "base/Result.h"
#include "base/ScratchFolder.h"

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

  std::string path() const { return folder.file("program.ingot"); }

private:
  explicit TemporaryAsset(ScratchFolder folder) : folder(std::move(folder)) {}

  ScratchFolder folder;
};

} // namespace ingot::cli
