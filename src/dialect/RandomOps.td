// Random numbers.
#ifndef INGOT_RANDOM_OPS_TD
#define INGOT_RANDOM_OPS_TD

include "OpBase.td"

#endif
