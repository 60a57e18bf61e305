// From an exported program to its graph document.
#pragma once

#include "graph/Document.h"
#include "pt2/Archive.h"

#include <map>
#include <string>

namespace ingot::graph {

/// Weights are described, not held; constants whose values the program has are taken along. `tied` names weights that
/// share another one's memory, for programs whose weights have none: name ► the name of the first.
Document documentOf(const pt2::Program &program, const std::map<std::string, std::string> &tied = {});

} // namespace ingot::graph
