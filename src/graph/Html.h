// A page with a document's graph, weights and numbers: one file that needs nothing else.
#pragma once

#include "graph/Document.h"

namespace ingot::graph {

std::string html(const Document &document);

/// What the page shows, as its scripts read it; html/data.js says what each member is.
Json pageData(const Document &document);

} // namespace ingot::graph
