// Fourier transforms.
#pragma once

#include "dialect/Ops.h"

#define GET_OP_CLASSES
#include "dialect/SpectralOps.h.inc"
