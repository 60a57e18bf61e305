// A trait apart from the others: only few files need it.
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace ingot {

/// The results' sizes, or the resulting numbers, depend on the operands' content. Such an op ends a straight run of
/// steps: what follows can only be planned when its results are there. Its kernel has KernelDef::evaluate.
template <typename ConcreteType> class DataDependent : public mlir::OpTrait::TraitBase<ConcreteType, DataDependent> {};

} // namespace ingot
