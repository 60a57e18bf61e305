// Constants that act on one dimension of a tensor, such as a bias.
#pragma once

#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinTypes.h>

namespace ingot {

/// If `constant`, broadcast against `target`, varies along dimension `axis` only, gives it as a vector of
/// that dimension's size (built at the builder's insertion point); otherwise a null value.
mlir::Value asChannelVector(mlir::OpBuilder &builder, mlir::Value constant, mlir::RankedTensorType target,
                            int64_t axis);

/// Reshapes a vector to rank `rank`, its elements along `axis`.
mlir::Value alongAxis(mlir::OpBuilder &builder, mlir::Value vector, int64_t rank, int64_t axis);

} // namespace ingot
