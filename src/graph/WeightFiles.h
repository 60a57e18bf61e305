// Checkpoints for graph documents: safetensors files, alone or in shards.
#pragma once

#include "base/Result.h"
#include "pt2/Archive.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot::graph {

struct WeightFiles {
  std::vector<pt2::MemoryWeight> weights; ///< point into the mapped files
  std::shared_ptr<const void> memory;
};

/// `paths` are .safetensors files and indices of shards (*.index.json); a key may stand in one of them only.
Result<WeightFiles> readWeightFiles(const std::vector<std::string> &paths);

} // namespace ingot::graph
