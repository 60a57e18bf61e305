// Fourier transforms.
#ifndef INGOT_SPECTRAL_OPS_TD
#define INGOT_SPECTRAL_OPS_TD

include "OpBase.td"

#endif
