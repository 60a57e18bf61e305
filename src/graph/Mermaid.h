// Drawings of documents as Mermaid text.
#pragma once

#include "graph/Document.h"

namespace ingot::graph {

struct DrawOptions {
  size_t maxNodes = 30;
  bool includeWeights = true;
};

/// A flow chart of the first nodes, one after the other.
std::string mermaid(const Document &document, const DrawOptions &options = {});

/// A flow chart with a frame for every module. Modules are single boxes from the depth on at which all of it would have
/// more than `maxNodes` boxes.
std::string mermaidByModule(const Document &document, const DrawOptions &options = {});

/// A pie of the operators, the most frequent first, those after `count` together.
std::string operatorPie(const Document &document, size_t count = 10);

} // namespace ingot::graph
