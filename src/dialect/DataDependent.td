#ifndef INGOT_DATA_DEPENDENT_TD
#define INGOT_DATA_DEPENDENT_TD

include "mlir/IR/OpBase.td"

/// Results whose sizes or numbers depend on the operands' content; see DataDependent.h.
def Ingot_DataDependentTrait : NativeOpTrait<"DataDependent"> { let cppNamespace = "::ingot"; }

#endif
