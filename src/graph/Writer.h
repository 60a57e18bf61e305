// Writing graph documents: docs/graph_format.md.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"

#include <string>

namespace ingot::graph {

/// The document with its keys in the order of the format.
Json toJson(const Document &document);

Json toJson(const Node &node);

/// Two spaces for a level. Constants that need a file beside the document are not in it.
std::string writeDocument(const Document &document);

/// Writes the document, and the file of large constants beside it; a file is complete or not there.
Status writeDocumentFile(const Document &document, const std::string &path);

} // namespace ingot::graph
