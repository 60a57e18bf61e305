// Which records a .pt2 archive has and where they lie. Internal to src/pt2.
#pragma once

#include "base/Zip.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {
class MappedFile;
}

namespace ingot::pt2 {

struct ArchiveLayout {
  Zip zip;
  std::string root;                ///< with its trailing slash; empty if there is none
  std::vector<std::string> models; ///< sorted, never empty

  /// A record by its path below the root folder.
  const Zip::Entry *find(std::string_view path) const { return zip.find(root + std::string(path)); }
};

/// Opens an archive and makes sure that it is one we can read; otherwise the message says what the
/// file is and what to do about it.
Result<ArchiveLayout> openArchive(std::shared_ptr<const MappedFile> file);

/// Weights lie in raw records, not in one pickle as torch 2.8 wrote them.
Status checkPayloadLayout(const ArchiveLayout &layout, const std::string &model);

inline std::string weightsConfig(const std::string &model) { return "data/weights/" + model + "_weights_config.json"; }
inline std::string constantsConfig(const std::string &model) {
  return "data/constants/" + model + "_constants_config.json";
}

} // namespace ingot::pt2
