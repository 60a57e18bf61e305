// Layers that walk over time: recurrent networks.
#pragma once

#include "dialect/Ops.h"

#define GET_OP_CLASSES
#include "dialect/SequenceOps.h.inc"
