// Writing and adding at positions given by index.
#ifndef INGOT_SCATTER_OPS_TD
#define INGOT_SCATTER_OPS_TD

include "OpBase.td"

#endif
