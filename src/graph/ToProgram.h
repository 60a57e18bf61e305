// From a graph document, and weights for it, to a program that can be compiled.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"
#include "pt2/Archive.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot::graph {

/// The program of a valid document. Weights are matched by their keys in the state dict; constants may be given too and
/// come from the document otherwise. Weights that are missing, or of another shape or dtype, are reported all at once;
/// those that the document doesn't know are ignored. `memory` owns the weights' bytes.
Result<pt2::Program> programOf(const Document &document, const std::vector<pt2::MemoryWeight> &weights,
                               std::shared_ptr<const void> memory = nullptr);

/// Likewise without weights, which makes no program that could run.
Result<pt2::Program> programWithoutWeights(const Document &document);

/// The names among `given` that the document doesn't know.
std::vector<std::string> unknownWeights(const Document &document, const std::vector<std::string> &given);

} // namespace ingot::graph
