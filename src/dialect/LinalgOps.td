// Factorisations and solvers of matrices.
#ifndef INGOT_LINALG_OPS_TD
#define INGOT_LINALG_OPS_TD

include "OpBase.td"

#endif
