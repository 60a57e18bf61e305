// Arguments of nodes that have no records: of older documents, and of nodes that were made by hand.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"
#include "graph/Values.h"
#include "pt2/Schema.h"

#include <string>
#include <vector>

namespace ingot::graph {

/// `tensors` are the node's inputs; `hints` say for each what its weight or value is called ("bias"), which decides
/// where an optional tensor goes when there are fewer inputs than parameters for them.
Result<std::vector<pt2::NamedArgument>> rebuildArguments(const Node &node, const pt2::OpSchema *schema,
                                                         const std::vector<pt2::Argument> &tensors,
                                                         const std::vector<std::string> &hints,
                                                         const ValueReader &values);

} // namespace ingot::graph
