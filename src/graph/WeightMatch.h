// Weights for a document's graph, by their keys.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"
#include "pt2/Archive.h"

#include <memory>
#include <vector>

namespace ingot::graph {

struct MatchedWeights {
  std::vector<pt2::MemoryWeight> weights; ///< one for every weight of the signature
  std::vector<std::shared_ptr<const void>> memory;
};

/// Every weight that is missing, or of another shape or dtype, is named in the error.
Result<MatchedWeights> matchWeights(const Document &document, const pt2::Signature &signature,
                                    const std::vector<pt2::MemoryWeight> &given);

} // namespace ingot::graph
