// Branches, loops, and values whose sizes depend on data.
#ifndef INGOT_CONTROL_OPS_TD
#define INGOT_CONTROL_OPS_TD

include "OpBase.td"

#endif
