// Branches, loops, and values whose sizes depend on data.
#pragma once

#include "dialect/DataDependent.h"
#include "dialect/Ops.h"

#define GET_OP_CLASSES
#include "dialect/ControlOps.h.inc"
