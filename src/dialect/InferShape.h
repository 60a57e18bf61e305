// Shapes and types of results, for verifiers and lowerings. A size that is only known at run time is
// mlir::ShapedType::kDynamic. Functions that return std::optional or a type that may be null do so when
// the operands do not fit together.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace ingot {

using Shape = llvm::SmallVector<int64_t>;
using ShapeRef = llvm::ArrayRef<int64_t>;

/// "2x?x3"; "scalar" for rank 0.
std::string shapeText(ShapeRef shape);

/// Same rank, and no dimension has two different known sizes.
bool shapesAgree(ShapeRef a, ShapeRef b);

/// The size that two sizes broadcast to.
std::optional<int64_t> broadcastSize(int64_t a, int64_t b);
std::optional<Shape> broadcastShapes(ShapeRef a, ShapeRef b);
/// Of ranked tensor types.
std::optional<Shape> broadcastShapes(mlir::TypeRange types);

/// Result of an element-wise op: the operands' common shape with `element`, or with the element type of
/// the last operand (which is right for select too).
mlir::RankedTensorType elementwiseType(mlir::TypeRange operands, mlir::Type element = {});

mlir::RankedTensorType withShape(mlir::RankedTensorType type, ShapeRef shape);
mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element);

/// The number of elements; kDynamic when unknown or beyond int64.
int64_t elementCount(ShapeRef shape);

/// `axis` counted from the end when negative; nullopt when out of range.
std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);

mlir::RankedTensorType permuteType(mlir::RankedTensorType x, ShapeRef dims);
/// Size of a slice with bounds already clamped.
int64_t sliceSize(int64_t start, int64_t end, int64_t step);
mlir::RankedTensorType sliceType(mlir::RankedTensorType x, int64_t axis, ShapeRef bounds, int64_t step);
mlir::RankedTensorType concatType(mlir::TypeRange types, int64_t axis);
mlir::RankedTensorType padType(mlir::RankedTensorType x, ShapeRef low, ShapeRef high);
mlir::RankedTensorType indexSelectType(mlir::RankedTensorType x, mlir::RankedTensorType index, int64_t axis);
mlir::RankedTensorType indexType(mlir::RankedTensorType x, mlir::TypeRange indices, ShapeRef axes);
/// Reduced dimensions stay with size 1. `element` replaces the element type when given.
mlir::RankedTensorType reduceType(mlir::RankedTensorType x, ShapeRef dims, mlir::Type element = {});
mlir::RankedTensorType matmulType(mlir::RankedTensorType a, mlir::RankedTensorType b);
mlir::RankedTensorType attentionType(mlir::RankedTensorType q, mlir::RankedTensorType v);

/// One spatial dimension of a convolution or a pooling window.
struct Window {
  int64_t kernel = 1, stride = 1, padLow = 0, padHigh = 0, dilation = 1;
  bool ceilMode = false;
};
/// Number of window positions, as PyTorch counts them; nullopt when the window does not fit.
std::optional<int64_t> windowCount(int64_t size, const Window &window);

struct ConvShape {
  ShapeRef strides, padLow, padHigh, dilations, outputPadding;
  int64_t groups = 1;
  bool transposed = false;
};
mlir::RankedTensorType convType(mlir::RankedTensorType x, mlir::RankedTensorType weight, const ConvShape &conv);

} // namespace ingot
