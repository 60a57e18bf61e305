// Functions of plugins that rewrite the nodes of documents, as `register_op` does in Python.
#pragma once

#include "base/Result.h"
#include "graph/Document.h"
#include "ingot/plugin.h"

#include <span>

namespace ingot::graph {

/// Whether the pattern means the operator: "aten.add.Tensor" that overload alone, "aten.add" every one.
bool matchesOperator(std::string_view pattern, std::string_view opType);

/// Every node goes through the converter of its operator, an exact pattern before a whole operator's and later ones before
/// earlier ones. What used its results uses what took their place: results of the same name, else those of the last new
/// node by position, else the first input of a node that was dropped.
Status convertNodes(Document &document, std::span<const ingot_converter> converters);

} // namespace ingot::graph
