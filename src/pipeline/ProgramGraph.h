// The functions of a program as a graph document, to look at and to compare.
#pragma once

#include "graph/Document.h"

#include <mlir/IR/BuiltinOps.h>

namespace ingot {

/// Every entry point: its ops are the nodes, with modules and lines of Python from their locations. With several of them,
/// names begin with that of the entry point. Weights and constants are no nodes; a constant's name tells its value.
graph::Document programGraph(mlir::ModuleOp module);

} // namespace ingot
