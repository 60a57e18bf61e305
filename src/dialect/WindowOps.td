// Windows over images: pooling with indices, sampling grids, patches.
#ifndef INGOT_WINDOW_OPS_TD
#define INGOT_WINDOW_OPS_TD

include "OpBase.td"

#endif
