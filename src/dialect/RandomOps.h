// Random numbers.
#pragma once

#include "dialect/Ops.h"

#define GET_OP_CLASSES
#include "dialect/RandomOps.h.inc"
