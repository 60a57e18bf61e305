// Layers that fit no other family, and the gradients of layers that are exported by themselves.
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

/// out[o] = a W[o] b + bias[o] for every pair of rows.
LogicalResult lowerBilinear(LowerContext &ctx) {
  Value a = ctx.tensor("input1"), b = ctx.tensor("input2"), weight = ctx.tensor("weight");
  if (rankOf(a) == 0 || rankOf(a) != rankOf(b) || rankOf(weight) != 3)
    return ctx.refuse("needs vectors of one rank, and a weight [O, I, J]");
  Type dtype = dtypeOf(a), compute = computeType(dtype);
  Sizes shape = ctx.sizes(a);
  int64_t last = rankOf(a) - 1;
  Size rows = ctx.numElements(a, axisRange(0, last)), outputs = ctx.dim(weight, 0);
  Value left = ctx.reshape(ctx.cast(a, compute), {rows, ctx.dim(a, last)});
  Value right = ctx.reshape(ctx.cast(b, compute), {rows, Size(1), ctx.dim(b, last)});
  // [I, O * J]
  Value matrix = ctx.permute(ctx.cast(weight, compute), {1, 0, 2});
  matrix = ctx.reshape(matrix, {ctx.dim(weight, 1), ctx.times(outputs, ctx.dim(weight, 2))});
  Value product = ctx.reshape(ctx.matmul(left, matrix), {rows, outputs, ctx.dim(weight, 2)});
  Value sum = ctx.dropDims(ctx.reduce(ReduceKind::Sum, ctx.binary<MulOp>(product, right), {2}), {2});
  sum = ctx.cast(sum, dtype);
  if (Value bias = ctx.optionalTensor("bias"))
    sum = ctx.cast(ctx.binary<AddOp>(ctx.cast(sum, compute), ctx.cast(bias, compute)), dtype);
  shape[last] = outputs;
  return ctx.replace(ctx.reshape(sum, shape));
}

/// The sum over some dimensions of the product of three tensors, each with dimensions of size 1 put in: what a decomposed
/// `bilinear` is.
LogicalResult lowerTrilinear(LowerContext &ctx) {
  Type dtype = ctx.resultDtype(), compute = computeType(dtype);
  auto factor = [&](StringRef name, StringRef expanded) {
    Value x = ctx.cast(ctx.tensor(name), compute);
    SmallVector<int64_t> dims = ctx.integers(expanded);
    llvm::sort(dims);
    for (int64_t dim : dims)
      if (x && dim >= 0 && dim <= rankOf(x))
        x = ctx.insertDim(x, dim);
    return x;
  };
  Value a = factor("i1", "expand1"), b = factor("i2", "expand2"), c = factor("i3", "expand3");
  if (rankOf(a) != rankOf(b) || rankOf(a) != rankOf(c) || ctx.integers("sumdim").empty())
    return ctx.refuse("needs three tensors of one rank, and dimensions to add up");
  SmallVector<int64_t> dims = ctx.axes("sumdim", rankOf(a));
  Value product = ctx.binary<MulOp>(ctx.binary<MulOp>(a, c), b);
  return ctx.replace(ctx.cast(ctx.dropDims(ctx.reduce(ReduceKind::Sum, product, dims), dims), dtype));
}

/// A convolution over time of [T, B, C] with a weight [K, C, O].
LogicalResult lowerConvTbc(LowerContext &ctx) {
  Value x = ctx.tensor("self"), weight = ctx.tensor("weight"), bias = ctx.tensor("bias");
  if (rankOf(x) != 3 || rankOf(weight) != 3)
    return ctx.refuse("needs three dimensions");
  x = ctx.permute(x, {1, 2, 0});
  weight = ctx.permute(weight, {2, 1, 0});
  SmallVector<int64_t> one = {1}, zero = {0}, padding = {ctx.integer("pad")};
  ConvShape shape{one, padding, padding, one, zero, 1, false};
  RankedTensorType type = convType(tensorType(x), tensorType(weight), shape);
  if (!type)
    return ctx.refuse("the shapes of operand and weight do not fit together");
  Value result =
      ctx.create<ConvOp>(type, x, weight, bias, Value(), one, padding, padding, one, zero, 1, false, Activation::None)
          .getResult();
  return ctx.replace(ctx.permute(result, {2, 0, 1}));
}

//===------------------------------------------------------------------------------------------===//
// Gradients
//===------------------------------------------------------------------------------------------===//

namespace {

struct SoftmaxGradient {
  Value grad, output; ///< in the type of computation
  int64_t axis = 0;
};

SoftmaxGradient readSoftmaxGradient(LowerContext &ctx) {
  Value grad = ctx.tensor("grad_output"), output = ctx.tensor("output");
  Type compute = computeType(dtypeOf(grad));
  return {ctx.cast(grad, compute), ctx.cast(output, compute), ctx.axis("dim", rankOf(grad))};
}

Value sumAlong(LowerContext &ctx, Value x, int64_t axis) {
  return rankOf(x) == 0 ? x : ctx.reduce(ReduceKind::Sum, x, axis);
}

} // namespace

LogicalResult lowerSoftmaxBackward(LowerContext &ctx) {
  SoftmaxGradient g = readSoftmaxGradient(ctx);
  Value mean = sumAlong(ctx, ctx.binary<MulOp>(g.grad, g.output), g.axis);
  Value result = ctx.binary<MulOp>(ctx.binary<SubOp>(g.grad, mean), g.output);
  return ctx.replace(ctx.cast(result, ctx.resultDtype()));
}

LogicalResult lowerLogSoftmaxBackward(LowerContext &ctx) {
  SoftmaxGradient g = readSoftmaxGradient(ctx);
  Value share = ctx.binary<MulOp>(ctx.unary<ExpOp>(g.output), sumAlong(ctx, g.grad, g.axis));
  return ctx.replace(ctx.cast(ctx.binary<SubOp>(g.grad, share), ctx.resultDtype()));
}

LogicalResult lowerDropoutBackward(LowerContext &ctx) {
  Value grad = ctx.tensor("grad_output");
  Type dtype = ctx.resultDtype(), compute = computeType(dtype);
  Value kept = ctx.binary<MulOp>(ctx.cast(grad, compute), ctx.cast(ctx.tensor("mask"), compute));
  return ctx.replace(ctx.cast(ctx.binary<MulOp>(kept, ctx.real("scale")), dtype));
}

} // namespace ingot::lower
