// Every op, for the documents. The families are apart so that a change to one rebuilds little.
#ifndef INGOT_ALL_OPS_TD
#define INGOT_ALL_OPS_TD

include "Ops.td"
include "SpecialOps.td"
include "ScatterOps.td"
include "OrderOps.td"
include "WindowOps.td"
include "SequenceOps.td"
include "LinalgOps.td"
include "SpectralOps.td"
include "RandomOps.td"
include "ControlOps.td"
include "CustomOps.td"

#endif
