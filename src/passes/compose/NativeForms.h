// Native forms of what declarations of composites promise.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>

namespace ingot {

/// Puts ops that have a kernel of their own into the body of a declared composite, where its parts are slower. What the
/// body computes around them, and its meaning, stay. A body of another structure stays as it is.
void useNativeForm(mlir::func::FuncOp body);

} // namespace ingot
