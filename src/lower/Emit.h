// Builds ops of the ingot dialect with their result types, and arithmetic on sizes. Whatever is
// known while converting is folded here, so that static programs have no size arithmetic.
#pragma once

#include "dialect/InferShape.h"
#include "dialect/Ops.h"
#include "lower/Promote.h"
#include "lower/Size.h"

#include "mlir/IR/Builders.h"

namespace ingot::lower {

/// The shape that two shapes broadcast to. Where they do not, the first: verification then refuses the
/// op that has it.
Shape commonShape(ShapeRef a, ShapeRef b);

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Type f32() { return builder.getF32Type(); }
  mlir::Type i64() { return builder.getI64Type(); }
  mlir::Type i1() { return builder.getI1Type(); }

  template <typename Op, typename... Args> Op create(Args &&...args) {
    return builder.create<Op>(loc, std::forward<Args>(args)...);
  }

  // Sources.

  /// A zero-dimensional tensor of `dtype`; integers are kept exactly.
  mlir::Value constant(const Number &number, mlir::Type dtype);
  mlir::Value constant(double number, mlir::Type dtype) { return constant(Number::of(number), dtype); }
  /// The operand as a tensor of `dtype`.
  mlir::Value as(const Operand &operand, mlir::Type dtype);
  mlir::Value full(const Number &number, llvm::ArrayRef<Size> sizes, mlir::Type dtype);
  mlir::Value iota(Number start, Number step, Size count, mlir::Type dtype);
  /// 0, 1, … as int64.
  mlir::Value iota(Size count) { return iota(Number::of(int64_t{0}), Number::of(int64_t{1}), count, i64()); }

  // Element-wise. Operands have one element type already.

  template <typename Op> mlir::Value unary(mlir::Value x) { return create<Op>(x.getType(), x).getResult(); }
  template <typename Op> mlir::Value test(mlir::Value x) {
    return create<Op>(tensorType(x).clone(i1()), x).getResult();
  }
  template <typename Op> mlir::Value binary(mlir::Value a, mlir::Value b) {
    return create<Op>(broadcastType(a, b, dtypeOf(a)), a, b).getResult();
  }
  template <typename Op> mlir::Value compare(mlir::Value a, mlir::Value b) {
    return create<Op>(broadcastType(a, b, i1()), a, b).getResult();
  }
  /// With a number, which takes the tensor's element type.
  template <typename Op> mlir::Value binary(mlir::Value a, double b) { return binary<Op>(a, constant(b, dtypeOf(a))); }
  template <typename Op> mlir::Value compare(mlir::Value a, double b) {
    return compare<Op>(a, constant(b, dtypeOf(a)));
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value cast(mlir::Value x, mlir::Type dtype);

  // Moving data. What would change nothing gives its operand back.

  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<Size> sizes);
  /// The same sizes, of which the type says more or less.
  mlir::Value reshapeTo(mlir::Value x, mlir::RankedTensorType type);
  mlir::Value expand(mlir::Value x, llvm::ArrayRef<Size> sizes);
  mlir::Value permute(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  mlir::Value transpose(mlir::Value x, int64_t a, int64_t b);
  /// `length` is the result's size where it is known although the bounds are not.
  mlir::Value slice(mlir::Value x, int64_t axis, Size start, Size end, int64_t step = 1,
                    int64_t length = kDynamicEntry);
  mlir::Value insertSlice(mlir::Value x, mlir::Value source, int64_t axis, Size start, Size end, int64_t step = 1);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> values, int64_t axis);
  mlir::Value insertDim(mlir::Value x, int64_t axis);
  mlir::Value dropDims(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  mlir::Value flatten(mlir::Value x);
  mlir::Value indexSelect(mlir::Value x, mlir::Value index, int64_t axis);

  // Reductions keep the dimensions with size 1.

  mlir::Value reduce(ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> dims);
  mlir::Value argReduce(mlir::Value x, int64_t axis, bool minimum);
  mlir::Value mean(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  mlir::Value softmax(mlir::Value x, int64_t axis, bool log);

  mlir::Value matmul(mlir::Value a, mlir::Value b, mlir::Value bias = {});

  // Sizes.

  Size dim(mlir::Value x, int64_t axis);
  Sizes sizes(mlir::Value x);
  Size numElements(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  mlir::Value asValue(Size size);
  Size plus(Size a, Size b);
  Size minus(Size a, Size b);
  Size times(Size a, Size b);
  Size floorDiv(Size a, Size b);
  Size ceilDiv(Size a, Size b);
  Size smaller(Size a, Size b);
  Size larger(Size a, Size b);
  /// A position that counts from the end where negative, between 0 and `size`.
  Size clampPosition(Size position, Size size);

private:
  mlir::RankedTensorType broadcastType(mlir::Value a, mlir::Value b, mlir::Type dtype);
};

} // namespace ingot::lower
