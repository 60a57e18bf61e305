// Operators that see the same elements under other sizes or another order of dimensions.
#include "dialect/Conventions.h"
#include "lower/Complex.h"
#include "lower/Pick.h"
#include "lower/Reduce.h"

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// Reshapes
//===------------------------------------------------------------------------------------------===//

/// Replaces the entry -1 by what is left of `total`; the carrier's type tells it nearly always.
static void inferSize(LowerContext &ctx, MutableArrayRef<Size> sizes, Size total, ArrayRef<int64_t> known) {
  auto isOpen = [](const Size &size) { return size.is(-1); };
  auto open = llvm::find_if(sizes, isOpen);
  if (open == sizes.end())
    return;
  size_t index = open - sizes.begin();
  if (index < known.size() && known[index] != kDynamicEntry) {
    *open = known[index];
    return;
  }
  Size rest = 1;
  for (const Size &size : sizes)
    rest = size.is(-1) ? rest : ctx.times(rest, size);
  *open = ctx.floorDiv(total, rest);
}

LogicalResult lowerView(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Sizes sizes = ctx.sizeList(ctx.has("size") ? "size" : "shape");
  SmallVector<int64_t> all = axisRange(0, rankOf(x));
  inferSize(ctx, sizes, ctx.numElements(x, all), ctx.resultType().getShape());
  return ctx.replace(ctx.reshape(x, sizes));
}

LogicalResult lowerViewAs(LowerContext &ctx) {
  return ctx.replace(ctx.reshape(ctx.tensor("self"), ctx.sizes(ctx.tensor("other"))));
}

LogicalResult lowerFlatten(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t rank = rankOf(x);
  if (rank == 0)
    return ctx.replace(ctx.reshape(x, {Size(1)}));
  if (!ctx.has("start_dim")) // ravel
    return ctx.replace(ctx.flatten(x));
  int64_t first = ctx.axis("start_dim", rank), last = ctx.axis("end_dim", rank);
  if (first > last)
    return ctx.refuse("start_dim comes after end_dim");
  Sizes sizes;
  for (int64_t i = 0; i < first; ++i)
    sizes.push_back(ctx.dim(x, i));
  sizes.push_back(ctx.numElements(x, axisRange(first, last + 1)));
  for (int64_t i = last + 1; i < rank; ++i)
    sizes.push_back(ctx.dim(x, i));
  return ctx.replace(ctx.reshape(x, sizes));
}

LogicalResult lowerUnflatten(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t rank = rankOf(x), axis = ctx.axis("dim", rank);
  if (rank == 0)
    return ctx.refuse("a zero-dimensional tensor has no dimension to unflatten");
  Sizes parts = ctx.sizeList("sizes");
  inferSize(ctx, parts, ctx.dim(x, axis), ctx.resultType().getShape().drop_front(axis));
  Sizes sizes;
  for (int64_t i = 0; i < rank; ++i) {
    if (i == axis)
      llvm::append_range(sizes, parts);
    else
      sizes.push_back(ctx.dim(x, i));
  }
  return ctx.replace(ctx.reshape(x, sizes));
}

/// Sizes that are only known at run time are not 1, unless the exporter has decided so: then the result lacks them, and
/// the reshape fails where it is not true.
LogicalResult lowerSqueeze(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  auto exported = ctx.op->getAttrOfType<DenseI64ArrayAttr>(attr::kDropped);
  auto canGo = [&](int64_t axis) {
    return axis < rankOf(x) && (ShapedType::isDynamic(shapeOf(x)[axis]) || shapeOf(x)[axis] == 1);
  };
  if (exported && llvm::all_of(exported.asArrayRef(), canGo))
    return ctx.replace(ctx.dropDims(x, exported.asArrayRef()));
  SmallVector<int64_t> candidates, dropped;
  if (ctx.has("dim"))
    candidates = ctx.integers("dim").empty() ? candidates : ctx.axes("dim", rankOf(x));
  else
    candidates = axisRange(0, rankOf(x));
  for (int64_t axis : candidates)
    if (shapeOf(x)[axis] == 1)
      dropped.push_back(axis);
  int64_t missing = rankOf(x) - static_cast<int64_t>(dropped.size()) - rankOf(ctx.op->getResult(0));
  auto isDynamic = [&](int64_t axis) { return ShapedType::isDynamic(shapeOf(x)[axis]); };
  if (missing > 0 && llvm::count_if(candidates, isDynamic) == missing)
    llvm::copy_if(candidates, std::back_inserter(dropped), isDynamic);
  llvm::sort(dropped);
  return ctx.replace(ctx.dropDims(x, dropped));
}

LogicalResult lowerUnsqueeze(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  return ctx.replace(ctx.insertDim(x, ctx.axis("dim", rankOf(x) + 1)));
}

//===------------------------------------------------------------------------------------------===//
// Broadcasts
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerExpand(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  Sizes sizes = ctx.sizeList("size");
  int64_t lead = static_cast<int64_t>(sizes.size()) - rankOf(x);
  if (lead < 0)
    return ctx.refuse("fewer sizes than dimensions");
  for (auto [i, size] : llvm::enumerate(sizes)) {
    int64_t axis = static_cast<int64_t>(i) - lead;
    if (size.is(-1) && axis < 0)
      return ctx.refuse("a new dimension needs a size");
    if (size.is(-1))
      size = ctx.dim(x, axis);
  }
  return ctx.replace(ctx.expand(x, sizes));
}

LogicalResult lowerExpandAs(LowerContext &ctx) {
  return ctx.replace(ctx.expand(ctx.tensor("self"), ctx.sizes(ctx.tensor("other"))));
}

//===------------------------------------------------------------------------------------------===//
// Orders of dimensions
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerPermute(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  SmallVector<int64_t> dims = ctx.integers("dims");
  for (int64_t &dim : dims)
    dim = ctx.normalizeAxis(dim, rankOf(x));
  if (static_cast<int64_t>(dims.size()) != rankOf(x))
    return ctx.refuse("dims must name every dimension once");
  return ctx.replace(ctx.permute(x, dims));
}

LogicalResult lowerTranspose(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  bool isAxes = ctx.has("axis0");
  int64_t a = ctx.axis(isAxes ? "axis0" : "dim0", rankOf(x));
  int64_t b = ctx.axis(isAxes ? "axis1" : "dim1", rankOf(x));
  return ctx.replace(ctx.transpose(x, a, b));
}

/// t, mT, adjoint of real tensors: the last two dimensions change places.
LogicalResult lowerMatrixTranspose(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t rank = rankOf(x);
  if (rank < 2)
    return ctx.replace(x);
  return ctx.replace(ctx.transpose(x, rank - 2, rank - 1));
}

/// Conjugated and transposed.
LogicalResult lowerAdjoint(LowerContext &ctx) {
  Value x = conjugate(ctx, ctx.tensor("self"));
  int64_t rank = rankOf(x);
  return ctx.replace(rank < 2 ? x : ctx.transpose(x, rank - 2, rank - 1));
}

LogicalResult lowerReverseDims(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  SmallVector<int64_t> dims = axisRange(0, rankOf(x));
  std::reverse(dims.begin(), dims.end());
  return ctx.replace(ctx.permute(x, dims));
}

LogicalResult lowerMovedim(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t rank = rankOf(x);
  SmallVector<int64_t> from = ctx.integers("source"), to = ctx.integers("destination");
  if (from.size() != to.size())
    return ctx.refuse("source and destination have different lengths");
  SmallVector<int64_t> dims(rank, -1), taken;
  for (auto [source, destination] : llvm::zip_equal(from, to)) {
    source = ctx.normalizeAxis(source, rank);
    if (rank)
      dims[ctx.normalizeAxis(destination, rank)] = source;
    taken.push_back(source);
  }
  int64_t next = 0;
  for (int64_t &dim : dims) {
    if (dim >= 0)
      continue;
    while (llvm::is_contained(taken, next))
      ++next;
    dim = next++;
  }
  return ctx.replace(ctx.permute(x, dims));
}

//===------------------------------------------------------------------------------------------===//
// Strided views
//===------------------------------------------------------------------------------------------===//

/// The dimensions of a tensor without gaps or repeats, outermost in memory first; nothing if it has any.
static std::optional<SmallVector<int64_t>> memoryOrder(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> order = axisRange(0, sizes.size());
  auto key = [&](int64_t axis) { return std::tuple(-strides[axis], sizes[axis] != 1, axis); };
  llvm::sort(order, [&](int64_t a, int64_t b) { return key(a) < key(b); });
  int64_t expected = 1;
  for (int64_t axis : llvm::reverse(order)) {
    if (sizes[axis] != 1 && strides[axis] != expected)
      return std::nullopt;
    expected *= sizes[axis];
  }
  return order;
}

/// The view is `x` itself. Strides of single elements do not count.
static bool isRowMajorView(Value x, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (shapeOf(x) != sizes || sizes.size() != strides.size())
    return false;
  int64_t stride = 1;
  for (auto [size, given] : llvm::zip_equal(llvm::reverse(sizes), llvm::reverse(strides))) {
    if (size != 1 && given != stride)
      return false;
    stride *= size;
  }
  return true;
}

namespace {

/// A tensor whose dimensions are in the order of its memory, and where a view of that memory starts in it.
struct Memory {
  Value x;
  SmallVector<int64_t> order;
  int64_t offset = 0;
};

/// What as_strided and as_strided_scatter look at; nullopt after refusing.
std::optional<Memory> memoryOf(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  auto exported = ctx.op->getAttrOfType<DenseI64ArrayAttr>(attr::kOperandStrides);
  auto xSizes = tensorType(x).getShape();
  if (!exported || exported.size() != static_cast<int64_t>(xSizes.size()) + 1 || ShapedType::isDynamicShape(xSizes)) {
    (void)ctx.refuse("the strides of its operand are not known");
    return std::nullopt;
  }
  auto order = memoryOrder(xSizes, exported.asArrayRef().drop_back());
  int64_t first = exported.asArrayRef().back();
  int64_t offset = (ctx.isNone("storage_offset") ? first : ctx.integer("storage_offset")) - first;
  if (!order || offset < 0) {
    (void)ctx.refuse("it looks at memory around a view, which values do not have");
    return std::nullopt;
  }
  return Memory{ctx.permute(x, *order), *order, offset};
}

/// Of a tensor with one dynamic size: all of it, as it lies. (Pooling to one pixel gives such views when it is decomposed.)
bool isWholeView(LowerContext &ctx, const Sizes &sizes, ArrayRef<int64_t> strides) {
  Value x = ctx.tensor("self");
  auto exported = ctx.op->getAttrOfType<DenseI64ArrayAttr>(attr::kOperandStrides);
  if (!exported || exported.size() != rankOf(x) + 1 || sizes.size() != strides.size() ||
      static_cast<int64_t>(sizes.size()) != rankOf(x))
    return false;
  if (!ctx.isNone("storage_offset") && ctx.integer("storage_offset") != exported.asArrayRef().back())
    return false;
  int dynamic = 0;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    dynamic += ShapedType::isDynamic(shapeOf(x)[i]);
    if (size.entry() != shapeOf(x)[i] || (size.entry() != 1 && strides[i] != exported[i]))
      return false;
  }
  return dynamic == 1; // a reshape finds out that it is the same number
}

} // namespace

LogicalResult lowerAsStrided(LowerContext &ctx) {
  if (ShapedType::isDynamicShape(shapeOf(ctx.tensor("self")))) {
    Sizes wanted = ctx.sizeList("size");
    if (isWholeView(ctx, wanted, ctx.integers("stride")))
      return ctx.replace(ctx.reshape(ctx.tensor("self"), wanted));
  }
  SmallVector<int64_t> sizes = ctx.integers("size"), strides = ctx.integers("stride");
  std::optional<Memory> memory = memoryOf(ctx);
  if (!memory)
    return failure(); // memoryOf said why
  if (isRowMajorView(memory->x, sizes, strides) && memory->offset == 0)
    return ctx.replace(memory->x);
  auto last = static_cast<uint64_t>(memory->offset);
  for (auto [size, stride] : llvm::zip(sizes, strides))
    last = llvm::SaturatingMultiplyAdd<uint64_t>(std::max<int64_t>(size - 1, 0), stride, last);
  if (!llvm::is_contained(sizes, 0) && last >= static_cast<uint64_t>(tensorType(memory->x).getNumElements()))
    return ctx.refuse("it looks at memory around a view, which values do not have");
  auto type = withShape(tensorType(memory->x), sizes);
  return ctx.replace(ctx.create<AsStridedOp>(type, memory->x, sizes, strides, memory->offset).getResult());
}

/// The positions that the view sees are a table of indices.
LogicalResult lowerAsStridedScatter(LowerContext &ctx) {
  SmallVector<int64_t> sizes = ctx.integers("size"), strides = ctx.integers("stride");
  std::optional<Memory> memory = memoryOf(ctx);
  if (!memory)
    return failure(); // memoryOf said why
  if (sizes.size() != strides.size())
    return ctx.refuse("needs as many sizes as strides");
  Value positions = ctx.constant(Number::of(memory->offset), ctx.i64());
  for (auto [i, size] : llvm::enumerate(sizes)) {
    Sizes shape(sizes.size() - i, Size(1));
    shape.front() = size;
    Value steps = ctx.iota(Number::of(int64_t{0}), Number::of(strides[i]), size, ctx.i64());
    positions = ctx.binary<AddOp>(positions, ctx.reshape(steps, shape));
  }
  Picks picks{ctx.flatten(memory->x), {ctx.flatten(positions)}, {0}, {0}};
  Value result = put(ctx, picks, ctx.flatten(ctx.tensor("src")), "none");
  if (!result)
    return failure(); // put said why
  SmallVector<int64_t> back(memory->order.size());
  for (auto [i, axis] : llvm::enumerate(memory->order))
    back[axis] = static_cast<int64_t>(i);
  return ctx.replace(ctx.permute(ctx.reshape(result, ctx.sizes(memory->x)), back));
}

/// The first elements in row-major order under other sizes.
LogicalResult lowerResizeTo(LowerContext &ctx) {
  Value x = ctx.flatten(ctx.tensor("self"));
  Sizes sizes = ctx.has("size") ? ctx.sizeList("size") : ctx.sizes(ctx.tensor("the_template"));
  Size wanted = 1, have = ctx.dim(x, 0);
  for (const Size &size : sizes)
    wanted = ctx.times(wanted, size);
  Size missing = ctx.larger(0, ctx.minus(wanted, have));
  if (!missing.is(0))
    x = ctx.concat({x, ctx.full(Number::of(int64_t{0}), {missing}, dtypeOf(x))}, 0);
  return ctx.replace(ctx.reshape(ctx.slice(x, 0, 0, wanted, 1, wanted.entry()), sizes));
}

/// Windows of `size` elements every `step`, as a new last dimension: positions picked by index.
LogicalResult lowerUnfold(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  int64_t axis = ctx.axis("dimension", rankOf(x));
  int64_t size = ctx.integer("size"), step = ctx.integer("step");
  if (rankOf(x) == 0) // one window, of the only element or of none
    return ctx.replace(ctx.slice(ctx.reshape(x, {Size(1)}), 0, 0, size));
  if (step <= 0)
    return ctx.refuse("the step must be positive");
  Size count = ctx.plus(ctx.floorDiv(ctx.minus(ctx.dim(x, axis), size), step), 1);
  Number first = Number::of(int64_t{0});
  Value starts = ctx.iota(first, Number::of(step), count, ctx.i64());
  Value positions = ctx.binary<AddOp>(ctx.reshape(starts, {count, Size(1)}), ctx.iota(size));
  Value windows = ctx.indexSelect(x, positions, axis); // [..., count, size, ...]
  SmallVector<int64_t> order = axisRange(0, rankOf(windows));
  order.erase(order.begin() + axis + 1);
  order.push_back(axis + 1);
  return ctx.replace(ctx.permute(windows, order));
}

} // namespace ingot::lower
