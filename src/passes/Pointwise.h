// Convolutions that passes join with their neighbours.
#pragma once

#include "dialect/Ops.h"

namespace ingot {

/// Constant filters of 1x1 pixels, each of which sees all channels, read every pixel once.
bool isPointwise(ConvOp conv);

/// Constant filters, and biases if there are any, are moved over images of float32, and not transposed.
bool isPlainImageConv(ConvOp conv);

} // namespace ingot
