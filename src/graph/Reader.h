// Reading graph documents, ours and the older ones that say less: docs/graph_format.md.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"

#include <string>
#include <string_view>

namespace ingot::graph {

/// Whether a JSON text is a graph document rather than an exported program; only its first keys are read.
bool looksLikeDocument(std::string_view text);

/// Reads what is there. Problems of form are all reported together; Validate.h knows the others.
Result<Document> readDocument(std::string_view text);
/// One node of a document.
Result<Node> readNode(std::string_view text);
Result<Document> readDocumentFile(const std::string &path);

} // namespace ingot::graph
