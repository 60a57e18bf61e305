// Writing and adding at positions given by index.
#pragma once

#include "dialect/DataDependent.h"
#include "dialect/Ops.h"

#define GET_OP_CLASSES
#include "dialect/ScatterOps.h.inc"
