// Traits of the ingot dialect's operations.
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace ingot {

mlir::LogicalResult verifyElementwise(mlir::Operation *op);

/// The same scalar function at every element; operands broadcast. Test with
/// `op->hasTrait<ingot::Elementwise>()`.
template <typename ConcreteType> class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyElementwise(op); }
};

/// An element-wise operation whose result is of booleans: comparisons and tests.
template <typename ConcreteType> class BooleanResult : public mlir::OpTrait::TraitBase<ConcreteType, BooleanResult> {};

} // namespace ingot
