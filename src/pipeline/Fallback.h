// The last look at what PyTorch will run, while everything about it is known.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace ingot {

/// Notes on every carrier whose schema is known what it writes, since schemas of custom operators are not known on every
/// machine; and takes away results that nobody uses: PyTorch's operators may give less there than was exported.
void prepareFallback(mlir::ModuleOp module);

} // namespace ingot
