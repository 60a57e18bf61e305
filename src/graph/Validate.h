// What is wrong with a graph document.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"

#include <string>
#include <vector>

namespace ingot::graph {

/// Every problem with its path, "nodes[3].inputs[0]: …"; empty for a good document.
std::vector<std::string> validate(const Document &document);

/// The problems as one error, the first of them when there are very many.
Status checkDocument(const Document &document);

} // namespace ingot::graph
