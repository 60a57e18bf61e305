// Where operations come from, without where that lies on the machine of whoever converted.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace ingot {

/// Absolute paths of source files become relative ones: to the working folder, or to the folder that packages are
/// installed in; of other files the name is left.
void makePathsRelative(mlir::ModuleOp module);

} // namespace ingot
