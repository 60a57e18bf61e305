// Parts of the signature as text. Private to this folder.
#pragma once

#include "base/Result.h"
#include "pt2/Graph.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ingot {

/// A tensor's sizes ("s0", "2*s0", "128"), one a dimension; a symbolic number's value, as one entry.
Result<std::vector<std::string>> dimTexts(const pt2::Graph &graph, llvm::StringRef value);

} // namespace ingot
