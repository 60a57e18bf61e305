// Layers that walk over time: recurrent networks.
#ifndef INGOT_SEQUENCE_OPS_TD
#define INGOT_SEQUENCE_OPS_TD

include "OpBase.td"

#endif
