// Factorisations and solvers of matrices.
#pragma once

#include "dialect/Ops.h"

#define GET_OP_CLASSES
#include "dialect/LinalgOps.h.inc"
