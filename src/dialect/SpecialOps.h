// Element-wise functions that fused loops do not inline: special functions, and those of complex numbers.
#pragma once

#include "dialect/Ops.h"

#define GET_OP_CLASSES
#include "dialect/SpecialOps.h.inc"
