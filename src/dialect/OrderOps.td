// Sorting, searching, counting and running reductions.
#ifndef INGOT_ORDER_OPS_TD
#define INGOT_ORDER_OPS_TD

include "OpBase.td"

#endif
