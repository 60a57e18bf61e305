// What `ingot show` says of a file, whatever kind of file it is.
#pragma once

#include "asset/Format.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ingot::cli {

struct Summary {
  std::string kind; ///< "asset" or "pt2"
  std::string path;
  /// What made the file: ("torch", "2.13.0"), ("format", "1.0"), ...
  std::vector<std::pair<std::string, std::string>> origin;
  std::vector<asset::EntryPoint> entryPoints;
  std::map<std::string, int64_t, std::less<>> opCounts;
  uint64_t weightCount = 0, weightBytes = 0;
  std::vector<std::pair<std::string, uint64_t>> files;
  std::vector<std::string> requirements;
  std::vector<asset::FallbackOp> fallback; ///< operators that run with PyTorch
  /// CPU keys the asset has been compiled for.
  std::vector<std::string> specialisations;
  /// What one call takes, for assets that are compiled for this CPU; symbols have the sizes in `sizes`.
  struct MemoryUse {
    std::string entry;
    uint64_t arenaBytes = 0;    ///< for all intermediate values
    uint64_t unsharedBytes = 0; ///< what they would take if none shared memory
    std::map<std::string, int64_t> sizes;
  };
  std::vector<MemoryUse> memory;
};

/// Reads headers only, and weights where the memory plan needs them.
Result<Summary> summariseAsset(const std::string &path);
/// Uses the .pt2 reader only: the compiler is not loaded.
Result<Summary> summarisePt2(const std::string &path);

} // namespace ingot::cli
