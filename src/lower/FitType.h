// What is given for what is declared: results of lowerings and of graphs that are written by hand.
#pragma once

#include "base/Result.h"
#include "lower/Emit.h"

namespace ingot::lower {

/// The value with the declared rank and element type: int32 is widened to int64 and float32 to float64, a number becomes a
/// tensor, and the only element of a tensor a number. Null where more differs, with `problem` as "rank 2 vs 3".
mlir::Value fitType(Emitter &emit, mlir::Value value, mlir::Type declared, std::string &problem);

/// The value with exactly the declared type; `place` is what an error calls it.
Result<mlir::Value> fitExactly(Emitter &emit, mlir::Value value, mlir::Type declared, const std::string &place);

std::string typeText(mlir::Type type);

} // namespace ingot::lower
