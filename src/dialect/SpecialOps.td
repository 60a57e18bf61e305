// Element-wise functions that fused loops do not inline: special functions, and those of complex numbers.
#ifndef INGOT_SPECIAL_OPS_TD
#define INGOT_SPECIAL_OPS_TD

include "OpBase.td"

#endif
