// Pooling. Names end in the number of spatial dimensions, which are the last ones.
#include "lower/Pool.h"
#include "dialect/WindowOps.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// The 2 of "aten::max_pool2d_with_indices".
size_t spatialDims(LowerContext &ctx) {
  StringRef name = ctx.op.getTarget();
  size_t letter = name.find_first_of("123");
  return letter == StringRef::npos ? 2 : static_cast<size_t>(name[letter] - '0');
}

struct PoolWindow {
  SmallVector<int64_t> kernel, strides, padding;
  bool ceilMode = false;
};

/// Nullopt after refusing.
std::optional<PoolWindow> readWindow(LowerContext &ctx, Value x) {
  size_t spatial = spatialDims(ctx);
  if (rankOf(x) <= static_cast<int64_t>(spatial)) {
    (void)ctx.refuse("the operand needs a dimension before its spatial ones");
    return std::nullopt;
  }
  PoolWindow window;
  window.kernel = ctx.integers("kernel_size", spatial, 1);
  bool hasStride = !ctx.sizeList("stride").empty();
  window.strides = hasStride ? ctx.integers("stride", spatial, 1) : window.kernel;
  window.padding = ctx.integers("padding", spatial, 0);
  window.ceilMode = ctx.flag("ceil_mode");
  // Rounding up, a window larger than the image is the image.
  for (auto [i, size] : llvm::enumerate(shapeOf(x).take_back(spatial)))
    if (window.ceilMode && size != kDynamicEntry && window.padding[i] == 0)
      window.kernel[i] = std::min(window.kernel[i], size);
  return window;
}

} // namespace

LogicalResult lowerMaxPool(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<PoolWindow> window = readWindow(ctx, x);
  if (!window)
    return failure(); // readWindow said why
  SmallVector<int64_t> dilations = ctx.integers("dilation", window->kernel.size(), 1);
  RankedTensorType type = ctx.resultType();
  auto pool = ctx.create<MaxPoolOp>(withElement(type, dtypeOf(x)), withElement(type, ctx.i64()), x, window->kernel,
                                    window->strides, window->padding, dilations, window->ceilMode);
  if (ctx.numResults() == 1)
    return ctx.replace(pool.getResult());
  return ctx.replace({pool.getResult(), pool.getIndices()});
}

LogicalResult lowerAvgPool(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<PoolWindow> window = readWindow(ctx, x);
  if (!window)
    return failure(); // readWindow said why
  bool hasDivisor = ctx.has("divisor_override") && !ctx.isNone("divisor_override");
  int64_t divisor = hasDivisor ? ctx.integer("divisor_override") : 0;
  auto type = withElement(ctx.resultType(), dtypeOf(x));
  return ctx.replace(ctx.create<AvgPoolOp>(type, x, window->kernel, window->strides, window->padding, window->ceilMode,
                                           ctx.flag("count_include_pad"), divisor)
                         .getResult());
}

namespace {

/// The result sizes, and those of them that the program computes.
struct OutputSizes {
  SmallVector<int64_t> entries;
  SmallVector<Value> dynamic;
};

/// Nullopt after refusing.
std::optional<OutputSizes> readOutput(LowerContext &ctx, Value x) {
  size_t spatial = spatialDims(ctx);
  Sizes sizes = ctx.sizeList("output_size");
  if (sizes.size() == 1)
    sizes.resize(spatial, sizes.front());
  if (rankOf(x) <= static_cast<int64_t>(spatial) || sizes.size() != spatial) {
    (void)ctx.refuse("the operand needs a dimension before its spatial ones, and those a size each");
    return std::nullopt;
  }
  OutputSizes output;
  for (const Size &size : sizes) {
    output.entries.push_back(size.entry());
    if (!size.isStatic())
      output.dynamic.push_back(size.dynamic);
  }
  return output;
}

} // namespace

Value adaptiveShares(LowerContext &ctx, Size in, Size out, Type dtype) {
  auto column = [&](Value value) { return ctx.reshape(value, {out, Size(1)}); };
  Value index = ctx.iota(out), size = ctx.constant(Number::of(in), ctx.i64());
  Value count = ctx.constant(Number::of(out), ctx.i64());
  Value begin = ctx.binary<DivFloorOp>(ctx.binary<MulOp>(index, size), count);
  Value reach = ctx.binary<MulOp>(ctx.binary<AddOp>(index, 1), size);
  Value end = ctx.binary<DivFloorOp>(ctx.binary<SubOp>(ctx.binary<AddOp>(reach, count), 1), count);
  Value place = ctx.reshape(ctx.iota(in), {Size(1), in});
  Value isInside =
      ctx.binary<BitwiseAndOp>(ctx.compare<GeOp>(place, column(begin)), ctx.compare<LtOp>(place, column(end)));
  Value length = ctx.cast(column(ctx.binary<SubOp>(end, begin)), dtype);
  return ctx.binary<DivOp>(ctx.cast(isInside, dtype), length);
}

/// To sizes that the program computes: a product with a matrix of shares for each dimension.
static Value averageByShares(LowerContext &ctx, Value x, const OutputSizes &output) {
  int64_t rank = rankOf(x), spatial = static_cast<int64_t>(output.entries.size());
  Type dtype = dtypeOf(x);
  size_t next = 0;
  x = ctx.cast(x, computeType(dtype));
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t axis = rank - spatial + i;
    Size size = output.entries[i] == kDynamicEntry ? Size(output.dynamic[next++]) : Size(output.entries[i]);
    Value shares = adaptiveShares(ctx, ctx.dim(x, axis), size, dtypeOf(x));
    Value turned = ctx.transpose(x, axis, rank - 1);
    x = ctx.transpose(ctx.matmul(turned, ctx.transpose(shares, 0, 1)), axis, rank - 1);
  }
  return ctx.cast(x, dtype);
}

LogicalResult lowerAdaptiveAvgPool(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<OutputSizes> output = readOutput(ctx, x);
  if (!output)
    return failure(); // readOutput said why
  if (!output->dynamic.empty())
    return ctx.replace(averageByShares(ctx, x, *output));
  const int64_t lead = rankOf(x) - static_cast<int64_t>(output->entries.size());
  if (llvm::all_equal(output->entries) && output->entries.front() == 1 &&
      llvm::is_contained(shapeOf(x).drop_front(lead), 0)) // eager takes the mean of the whole, and checks nothing
    return ctx.replace(ctx.mean(x, axisRange(lead, rankOf(x))));
  auto type = withElement(ctx.resultType(), dtypeOf(x));
  return ctx.replace(ctx.create<AdaptiveAvgPoolOp>(type, x, output->entries).getResult());
}

LogicalResult lowerAdaptiveMaxPool(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  std::optional<OutputSizes> output = readOutput(ctx, x);
  if (!output)
    return failure(); // readOutput said why
  SmallVector<int64_t> shape(shapeOf(x).drop_back(output->entries.size()));
  llvm::append_range(shape, output->entries);
  auto type = withShape(tensorType(x), shape);
  auto pool = ctx.create<AdaptiveMaxPoolOp>(type, withElement(type, ctx.i64()), x, output->dynamic, output->entries);
  return ctx.replace({pool.getResult(), pool.getIndices()});
}

} // namespace ingot::lower
