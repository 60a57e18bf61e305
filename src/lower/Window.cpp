// Windows whose elements are picked or put by position: unpooling, patches, sampling grids.
#include "dialect/WindowOps.h"
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

namespace {

Sizes frontSizes(LowerContext &ctx, Value x, int64_t count) {
  Sizes sizes = ctx.sizes(x);
  sizes.truncate(count);
  return sizes;
}

Size product(LowerContext &ctx, ArrayRef<Size> sizes) {
  Size result = 1;
  for (const Size &size : sizes)
    result = ctx.times(result, size);
  return result;
}

/// Values at flat positions of the last dimensions, which get the sizes `spatial`.
Value scatterPlanes(LowerContext &ctx, Value values, Value indices, ArrayRef<Size> spatial, bool accumulate) {
  int64_t lead = rankOf(values) - static_cast<int64_t>(spatial.size());
  Sizes front = frontSizes(ctx, values, lead);
  Size planes = product(ctx, front), count = ctx.numElements(values, axisRange(lead, rankOf(values)));
  Size size = product(ctx, spatial);
  Value flat = ctx.reshape(values, {planes, count});
  Value positions = ctx.reshape(ctx.cast(indices, ctx.i64()), {planes, count});
  auto type = withShape(tensorType(values), {planes.entry(), size.entry()});
  SmallVector<Value> dynamic;
  if (!size.isStatic())
    dynamic.push_back(size.dynamic);
  Value result = ctx.create<PlaneScatterOp>(type, flat, positions, dynamic, size.entry(), accumulate).getResult();
  llvm::append_range(front, spatial);
  return ctx.reshape(result, front);
}

} // namespace

LogicalResult lowerMaxUnpool(LowerContext &ctx) {
  Value x = ctx.tensor("self"), indices = ctx.tensor("indices");
  Sizes output = ctx.sizeList("output_size");
  if (rankOf(x) <= static_cast<int64_t>(output.size()) || rankOf(indices) != rankOf(x))
    return ctx.refuse("needs positions of the operand's shape, and a dimension before the spatial ones");
  return ctx.replace(scatterPlanes(ctx, x, indices, output, /*accumulate=*/false));
}

LogicalResult lowerMaxPoolBackward(LowerContext &ctx) {
  Value grad = ctx.tensor("grad_output"), x = ctx.tensor("self"), indices = ctx.tensor("indices");
  int64_t spatial = ctx.op.getTarget().contains("3d") ? 3 : 2;
  if (rankOf(x) <= spatial || rankOf(grad) != rankOf(x))
    return ctx.refuse("needs a dimension before the spatial ones");
  Sizes sizes = ctx.sizes(x);
  Sizes output(sizes.end() - spatial, sizes.end());
  return ctx.replace(scatterPlanes(ctx, grad, indices, output, /*accumulate=*/true));
}

LogicalResult lowerFractionalMaxPool(LowerContext &ctx) {
  Value x = ctx.tensor("self"), samples = ctx.tensor("random_samples");
  size_t spatial = ctx.op.getTarget().contains("3d") ? 3 : 2;
  SmallVector<int64_t> kernel = ctx.integers("kernel_size", spatial, 1),
                       output = ctx.integers("output_size", spatial, 1);
  if (rankOf(x) <= static_cast<int64_t>(spatial) || rankOf(samples) != 3)
    return ctx.refuse("needs a dimension before the spatial ones, and samples of each plane");
  RankedTensorType type = ctx.resultType();
  auto pool = ctx.create<FractionalMaxPoolOp>(withElement(type, dtypeOf(x)), withElement(type, ctx.i64()), x,
                                              ctx.cast(samples, dtypeOf(x)), kernel, output);
  return ctx.replace({pool.getResult(), pool.getIndices()});
}

//===------------------------------------------------------------------------------------------===//
// Patches
//===------------------------------------------------------------------------------------------===//

namespace {

struct Patches {
  SmallVector<int64_t> kernel, dilations, padding, strides;
};

Patches readPatches(LowerContext &ctx) {
  return {ctx.integers("kernel_size", 2, 1), ctx.integers("dilation", 2, 1), ctx.integers("padding", 2, 0),
          ctx.integers("stride", 2, 1)};
}

bool arePositive(const Patches &patches) {
  auto isPositive = [](int64_t entry) { return entry >= 1; };
  return llvm::all_of(patches.kernel, isPositive) && llvm::all_of(patches.dilations, isPositive) &&
         llvm::all_of(patches.strides, isPositive);
}

/// The rows (or columns) that patches read: [kernel, places].
Value patchPositions(LowerContext &ctx, const Patches &patches, size_t dim, Size padded) {
  int64_t kernel = patches.kernel[dim], dilation = patches.dilations[dim], stride = patches.strides[dim];
  Size room = ctx.minus(padded, dilation * (kernel - 1) + 1);
  Size places = ctx.plus(ctx.floorDiv(room, stride), 1);
  Number zero = Number::of(int64_t{0});
  Value inside = ctx.reshape(ctx.iota(zero, Number::of(dilation), kernel, ctx.i64()), {Size(kernel), Size(1)});
  Value starts = ctx.iota(zero, Number::of(stride), places, ctx.i64());
  return ctx.binary<AddOp>(inside, ctx.reshape(starts, {Size(1), places}));
}

} // namespace

LogicalResult lowerIm2col(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  bool isBatched = rankOf(x) == 4;
  Patches patches = readPatches(ctx);
  if ((!isBatched && rankOf(x) != 3) || !arePositive(patches))
    return ctx.refuse("needs an image and positive numbers");
  if (!isBatched)
    x = ctx.insertDim(x, 0);
  if (patches.padding[0] != 0 || patches.padding[1] != 0) {
    SmallVector<int64_t> pads = {0, 0, patches.padding[0], patches.padding[1]}, shape(shapeOf(x));
    for (size_t i = 2; i < 4; ++i)
      if (shape[i] != kDynamicEntry)
        shape[i] += 2 * pads[i];
    auto type = withShape(tensorType(x), shape);
    x = ctx.create<PadOp>(type, x, pads, pads, PadMode::Constant, llvm::APFloat(0.0)).getResult();
  }
  Value rows = patchPositions(ctx, patches, 0, ctx.dim(x, 2)), columns = patchPositions(ctx, patches, 1, ctx.dim(x, 3));
  // [N, C, kernel, places, kernel, places]
  Value picked = ctx.indexSelect(ctx.indexSelect(x, rows, 2), columns, 4);
  picked = ctx.permute(picked, {0, 1, 2, 4, 3, 5});
  Sizes sizes = ctx.sizes(picked);
  Value result =
      ctx.reshape(picked, {sizes[0], product(ctx, {sizes[1], sizes[2], sizes[3]}), ctx.times(sizes[4], sizes[5])});
  return ctx.replace(isBatched ? result : ctx.dropDims(result, {0}));
}

LogicalResult lowerCol2im(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  bool isBatched = rankOf(x) == 3;
  Patches patches = readPatches(ctx);
  Sizes output = ctx.sizeList("output_size");
  if ((!isBatched && rankOf(x) != 2) || !arePositive(patches) || output.size() != 2)
    return ctx.refuse("needs patches and positive numbers");
  if (!isBatched)
    x = ctx.insertDim(x, 0);
  int64_t window = patches.kernel[0] * patches.kernel[1];
  Size channels = ctx.floorDiv(ctx.dim(x, 1), window);
  SmallVector<Value> dynamic;
  SmallVector<int64_t> entries;
  for (const Size &size : output) {
    entries.push_back(size.entry());
    if (!size.isStatic())
      dynamic.push_back(size.dynamic);
  }
  auto type = withShape(tensorType(x), {shapeOf(x)[0], channels.entry(), entries[0], entries[1]});
  Value result =
      ctx.create<FoldOp>(type, x, dynamic, entries, patches.kernel, patches.strides, patches.padding, patches.dilations)
          .getResult();
  return ctx.replace(isBatched ? result : ctx.dropDims(result, {0}));
}

//===------------------------------------------------------------------------------------------===//
// Grids
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerGridSampler(LowerContext &ctx) {
  static constexpr const char *kModes[] = {"bilinear", "nearest", "bicubic"};
  static constexpr const char *kPaddings[] = {"zeros", "border", "reflection"};
  Value x = ctx.tensor("input"), grid = ctx.tensor("grid");
  int64_t mode = ctx.integer("interpolation_mode"), padding = ctx.integer("padding_mode");
  if ((rankOf(x) != 4 && rankOf(x) != 5) || rankOf(grid) != rankOf(x) || mode < 0 || mode > 2 || padding < 0 ||
      padding > 2 || !isFloat(dtypeOf(x)))
    return ctx.refuse("needs an image or a volume, a grid of its rank, and known modes");
  SmallVector<int64_t> shape(shapeOf(x).take_front(2));
  llvm::append_range(shape, shapeOf(grid).drop_front().drop_back());
  auto type = withShape(tensorType(x), shape);
  return ctx.replace(ctx.create<GridSampleOp>(type, x, ctx.cast(grid, dtypeOf(x)), kModes[mode], kPaddings[padding],
                                              ctx.flag("align_corners"))
                         .getResult());
}

namespace {

/// -1 … 1 in `count` steps; without `alignCorners`, the centres of as many pieces.
Value axisCoordinates(LowerContext &ctx, Size count, bool alignCorners, Type dtype) {
  Value index = ctx.cast(ctx.iota(count), dtype);
  Size gaps = ctx.minus(count, 1);
  Value twice = ctx.binary<SubOp>(ctx.binary<MulOp>(index, 2), ctx.constant(Number::of(gaps), dtype));
  Size divisor = alignCorners ? ctx.larger(gaps, 1) : count;
  return ctx.binary<DivOp>(twice, ctx.constant(Number::of(divisor), dtype));
}

} // namespace

/// Coordinates (x, y, 1) of every place, multiplied with the matrix of each image.
LogicalResult lowerAffineGrid(LowerContext &ctx) {
  Value theta = ctx.tensor("theta");
  Sizes sizes = ctx.sizeList("size");
  int64_t spatial = static_cast<int64_t>(sizes.size()) - 2;
  if (rankOf(theta) != 3 || (spatial != 2 && spatial != 3) || !isFloat(dtypeOf(theta)))
    return ctx.refuse("needs matrices [N, 2, 3] or [N, 3, 4] and the sizes of a batch of images");
  Type compute = computeType(dtypeOf(theta));
  Sizes places(sizes.begin() + 2, sizes.end()), column = places;
  column.push_back(Size(1));
  SmallVector<Value> columns;
  for (int64_t i = spatial - 1; i >= 0; --i) {
    Sizes own(spatial + 1, Size(1));
    own[i] = places[i];
    Value line = axisCoordinates(ctx, places[i], ctx.flag("align_corners"), compute);
    columns.push_back(ctx.expand(ctx.reshape(line, own), column));
  }
  columns.push_back(ctx.full(Number::of(1.0), column, compute));
  Value base = ctx.concat(columns, spatial);
  base = ctx.reshape(base, {Size(1), product(ctx, places), Size(spatial + 1)});
  Value result = ctx.matmul(base, ctx.transpose(ctx.cast(theta, compute), 1, 2));
  Sizes shape = {ctx.dim(theta, 0)};
  llvm::append_range(shape, places);
  shape.push_back(Size(spatial));
  return ctx.replace(ctx.cast(ctx.reshape(result, shape), dtypeOf(theta)));
}

} // namespace ingot::lower
