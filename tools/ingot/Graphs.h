// Graphs of files: what `info`, `visualize`, `show --html` and `diff` work on.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"

#include <string>
#include <string_view>

namespace ingot::cli {

/// The graph of a .pt2 file, of a graph document or, with the compiler, of an asset.
Result<graph::Document> loadGraph(const std::string &path);

/// Whether a file is a document rather than a .pt2 file: by its name or how it begins.
bool isJson(const std::string &path);

/// Writes to `path`, making the folders above it; to stdout where it is empty.
Status writeText(const std::string &path, std::string_view text);

} // namespace ingot::cli
