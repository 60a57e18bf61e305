// Parts of complex numbers, for lowerings that treat them apart.
#pragma once

#include "lower/Emit.h"

namespace ingot::lower {

mlir::Value realPart(Emitter &emit, mlir::Value x);
mlir::Value imagPart(Emitter &emit, mlir::Value x);
mlir::Value makeComplex(Emitter &emit, mlir::Value real, mlir::Value imag);
/// |x|, of the real type for complex numbers.
mlir::Value magnitude(Emitter &emit, mlir::Value x);
/// The conjugate; real tensors stay as they are.
mlir::Value conjugate(Emitter &emit, mlir::Value x);
/// float32 for complex64 and so on; `dtype` itself where it is real.
mlir::Type realType(mlir::Type dtype);

} // namespace ingot::lower
