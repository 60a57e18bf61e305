// Sorting, searching, counting and running reductions.
#pragma once

#include "dialect/DataDependent.h"
#include "dialect/Ops.h"

#define GET_OP_CLASSES
#include "dialect/OrderOps.h.inc"
