// Windows over images: pooling with indices, sampling grids, patches.
#pragma once

#include "dialect/Ops.h"

#define GET_OP_CLASSES
#include "dialect/WindowOps.h.inc"
