// Verifiers of SpectralOps.td.
#include "dialect/SpectralOps.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/SpectralOps.cpp.inc"

namespace ingot {} // namespace ingot
