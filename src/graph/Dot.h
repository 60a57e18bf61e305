// A drawing of a document as DOT, the language of Graphviz.
#pragma once

#include "graph/Mermaid.h"

namespace ingot::graph {

/// Every node, framed by module, with shapes on the edges. `options.maxNodes` of 0 is no limit.
std::string dot(const Document &document, const DrawOptions &options = {.maxNodes = 0});

} // namespace ingot::graph
