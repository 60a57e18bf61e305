// Searching in sorted rows, counting into bins, pieces of a dimension.
#include "dialect/OrderOps.h"
#include "dialect/ScatterOps.h"
#include "lower/Bounds.h"
#include "lower/Pick.h"

using namespace mlir;

namespace ingot::lower {

namespace {

Value searchSorted(LowerContext &ctx, Value sequence, Value values, Value sorter, bool right) {
  auto type = withElement(tensorType(values), ctx.i64());
  return ctx.create<SearchSortedOp>(type, sequence, values, sorter, right).getResult();
}

LogicalResult search(LowerContext &ctx, Value sequence, const Operand &self, Value sorter, bool right) {
  Type dtype = resultType(ctx.builder.getContext(), {Operand(sequence), self});
  if (!dtype)
    return ctx.refuse("PyTorch has no common type for these operands");
  Value values = ctx.as(self, dtype);
  sequence = ctx.cast(sequence, dtype);
  if (sorter)
    sorter = ctx.cast(sorter, ctx.i64());
  return ctx.replace(ctx.cast(searchSorted(ctx, sequence, values, sorter, right), ctx.resultDtype()));
}

} // namespace

LogicalResult lowerSearchSorted(LowerContext &ctx) {
  bool right = ctx.isNone("side") ? ctx.flag("right") : ctx.string("side") == "right";
  return search(ctx, ctx.tensor("sorted_sequence"), ctx.operand("self"), ctx.optionalTensor("sorter"), right);
}

LogicalResult lowerBucketize(LowerContext &ctx) {
  return search(ctx, ctx.tensor("boundaries"), ctx.operand("self"), {}, ctx.flag("right"));
}

/// Comparing all with all costs memory; many are looked up in sorted order.
LogicalResult lowerIsin(LowerContext &ctx) {
  Operand elements = ctx.operand(ctx.has("elements") ? "elements" : "element");
  Operand tests = ctx.operand(ctx.has("test_elements") ? "test_elements" : "test_element");
  Type dtype = resultType(ctx.builder.getContext(), {elements, tests});
  if (!dtype)
    return ctx.refuse("PyTorch has no common type for these operands");
  Value x = ctx.as(elements, dtype), test = ctx.flatten(ctx.as(tests, dtype));
  int64_t count = shapeOf(test).front(), rank = rankOf(x);
  Value found;
  if (count == 0) {
    found = ctx.full(Number::of(false), ctx.sizes(x), ctx.i1());
  } else if (count != kDynamicEntry && count <= 64) {
    Value same = ctx.compare<EqOp>(ctx.insertDim(x, rank), test);
    found = ctx.dropDims(ctx.reduce(ReduceKind::Any, same, {rank}), {rank});
  } else {
    auto positions = withElement(tensorType(test), ctx.i64());
    Value ordered = ctx.create<SortOp>(test.getType(), positions, test, 0, false, true).getValues();
    // Not by looking at what is found there: there may be nothing to look at.
    Value first = searchSorted(ctx, ordered, x, {}, false), end = searchSorted(ctx, ordered, x, {}, true);
    found = ctx.binary<BitwiseAndOp>(ctx.compare<LtOp>(first, end), ctx.compare<EqOp>(x, x)); // NaN is in no set
  }
  return ctx.replace(ctx.flag("invert") ? ctx.test<LogicalNotOp>(found) : found);
}

//===------------------------------------------------------------------------------------------===//
// Histograms
//===------------------------------------------------------------------------------------------===//

namespace {

/// Outer edges of bins, as zero-dimensional tensors.
struct Range {
  Value low, high;
};

/// A range without width is widened by `margin`.
Range widened(LowerContext &ctx, Range range, double margin) {
  Value isEmpty = ctx.compare<EqOp>(range.low, range.high);
  Value low = ctx.binary<SubOp>(range.low, margin), high = ctx.binary<AddOp>(range.high, margin);
  return {ctx.select(isEmpty, low, range.low), ctx.select(isEmpty, high, range.high)};
}

/// Of a vector; of nothing it is 0 to 1.
Range extent(LowerContext &ctx, Value x) {
  if (shapeOf(x).front() == 0)
    return {ctx.constant(0, dtypeOf(x)), ctx.constant(1, dtypeOf(x))};
  Value low = ctx.dropDims(ctx.reduce(ReduceKind::Min, x, {0}), {0});
  return {low, ctx.dropDims(ctx.reduce(ReduceKind::Max, x, {0}), {0})};
}

/// `bins` + 1 numbers from low to high, both included.
Value edgesOf(LowerContext &ctx, const Range &range, int64_t bins) {
  Type dtype = dtypeOf(range.low);
  Value step = ctx.binary<DivOp>(ctx.binary<SubOp>(range.high, range.low), static_cast<double>(bins));
  Value position = ctx.iota(Size(bins + 1)), index = ctx.cast(position, dtype);
  Value rest = ctx.binary<SubOp>(ctx.constant(static_cast<double>(bins), dtype), index);
  Value rising = ctx.binary<AddOp>(range.low, ctx.binary<MulOp>(step, index));
  Value falling = ctx.binary<SubOp>(range.high, ctx.binary<MulOp>(step, rest));
  return ctx.select(ctx.compare<LtOp>(position, static_cast<double>((bins + 1) / 2)), rising, falling);
}

/// The bin of every element: the last one holds its right edge too.
Value binByEdges(LowerContext &ctx, Value x, Value edges) {
  Value place = ctx.binary<SubOp>(searchSorted(ctx, edges, x, {}, true), 1);
  Value last = ctx.constant(Number::of(ctx.minus(ctx.dim(edges, 0), 2)), ctx.i64());
  return ctx.binary<MinimumOp>(place, last);
}

Value isBetween(LowerContext &ctx, Value x, Value low, Value high) {
  Value isAbove = ctx.compare<GeOp>(x, low), isBelow = ctx.compare<LeOp>(x, high);
  return ctx.binary<BitwiseAndOp>(isAbove, isBelow);
}

/// Weights (or ones) summed at `bins` of a vector of `count`; elements that do not count add nothing anywhere.
Value countBins(LowerContext &ctx, Value bins, Value counts, Value weights, Size count, Type dtype) {
  Value one = weights ? ctx.cast(weights, dtype) : ctx.constant(1, dtype);
  Value added = ctx.select(counts, one, ctx.constant(0, dtype));
  Value safe = ctx.select(counts, bins, ctx.constant(0, ctx.i64()));
  Picks picks{ctx.full(Number::of(int64_t{0}), {count}, dtype), {safe}, {0}, {0}};
  return put(ctx, picks, added, "add");
}

} // namespace

LogicalResult lowerHistc(LowerContext &ctx) {
  Value x = ctx.flatten(ctx.tensor("self"));
  Type dtype = dtypeOf(x);
  if (!isFloat(dtype))
    return ctx.refuse("PyTorch counts floating-point tensors only");
  int64_t bins = ctx.integer("bins");
  double low = ctx.real("min"), high = ctx.real("max");
  Range range{ctx.constant(low, dtype), ctx.constant(high, dtype)};
  if (low == high)
    range = widened(ctx, shapeOf(x).front() == 0 ? range : extent(ctx, x), 1);
  // As in PyTorch, every step rounds to the type of the input.
  Value width = ctx.binary<SubOp>(range.high, range.low);
  Value scaled = ctx.binary<MulOp>(ctx.binary<SubOp>(x, range.low), static_cast<double>(bins));
  Value place = ctx.cast(ctx.binary<DivOp>(scaled, width), ctx.i64());
  place = ctx.binary<MinimumOp>(place, static_cast<double>(bins - 1));
  Value counts = isBetween(ctx, x, range.low, range.high);
  return ctx.replace(ctx.cast(countBins(ctx, place, counts, {}, bins, computeType(dtype)), dtype));
}

namespace {

/// A histogram over points, given as one vector of coordinates for each dimension.
struct Histogram {
  SmallVector<Value> coordinates, edges;
  Value weights;
  Type dtype;
};

/// The number in every bin, or the density.
Value countPoints(LowerContext &ctx, const Histogram &histogram, bool isDensity) {
  Value bins, counts;
  Sizes sizes;
  Size total = 1;
  for (auto [x, edges] : llvm::zip_equal(histogram.coordinates, histogram.edges)) {
    Size count = ctx.minus(ctx.dim(edges, 0), 1);
    Value low = ctx.dropDims(ctx.slice(edges, 0, 0, 1), {0});
    Value high = ctx.dropDims(ctx.slice(edges, 0, count, ctx.plus(count, 1), 1, 1), {0});
    Value place = binByEdges(ctx, x, edges), isInside = isBetween(ctx, x, low, high);
    Value scale = ctx.constant(Number::of(count), ctx.i64());
    bins = bins ? ctx.binary<AddOp>(ctx.binary<MulOp>(bins, scale), place) : place;
    counts = counts ? ctx.binary<BitwiseAndOp>(counts, isInside) : isInside;
    sizes.push_back(count);
    total = ctx.times(total, count);
  }
  Value result = ctx.reshape(countBins(ctx, bins, counts, histogram.weights, total, histogram.dtype), sizes);
  if (!isDensity)
    return result;
  result = ctx.binary<DivOp>(result, ctx.reduce(ReduceKind::Sum, result, axisRange(0, rankOf(result))));
  for (auto [i, edges] : llvm::enumerate(histogram.edges)) {
    Value widths = ctx.binary<SubOp>(ctx.slice(edges, 0, 1, ctx.dim(edges, 0), 1, sizes[i].entry()),
                                     ctx.slice(edges, 0, 0, sizes[i], 1, sizes[i].entry()));
    Sizes shape(histogram.edges.size() - i, Size(1));
    shape.front() = sizes[i];
    result = ctx.binary<DivOp>(result, ctx.reshape(widths, shape));
  }
  return result;
}

/// The coordinates of points, which are the last dimension of x.
Histogram pointsOf(LowerContext &ctx, Value x) {
  Histogram histogram{{}, {}, ctx.optionalTensor("weight"), dtypeOf(x)};
  if (histogram.weights)
    histogram.weights = ctx.flatten(histogram.weights);
  int64_t last = rankOf(x) - 1;
  for (int64_t i = 0; i < shapeOf(x)[last]; ++i)
    histogram.coordinates.push_back(ctx.flatten(ctx.slice(x, last, i, i + 1)));
  return histogram;
}

void addEdges(LowerContext &ctx, Histogram &histogram, ArrayRef<int64_t> bins) {
  SmallVector<double> range = ctx.isNone("range") ? SmallVector<double>() : ctx.reals("range");
  for (auto [i, x] : llvm::enumerate(histogram.coordinates)) {
    Range ends = 2 * i + 1 < range.size() ? Range{ctx.constant(range[2 * i], histogram.dtype),
                                                  ctx.constant(range[2 * i + 1], histogram.dtype)}
                                          : extent(ctx, x);
    histogram.edges.push_back(edgesOf(ctx, widened(ctx, ends, 0.5), bins[std::min(i, bins.size() - 1)]));
  }
}

/// The points with the edges of their bins, given or made; nullopt after refusing.
std::optional<Histogram> histogramOf(LowerContext &ctx, Value x) {
  // (An unknown number is a negative one.)
  if (!isFloat(dtypeOf(x)) || rankOf(x) == 0 || shapeOf(x).back() < 0 || shapeOf(x).back() > kMaxCopies) {
    (void)ctx.refuse("takes floating-point points of a known number of dimensions");
    return std::nullopt;
  }
  Histogram histogram = pointsOf(ctx, x);
  if (auto list = dyn_cast<ArrayAttr>(ctx.attr("bins")); list && !list.empty() && !isa<IntegerAttr>(list[0]))
    histogram.edges = ctx.tensors("bins");
  else if (isa<ValueRefAttr>(ctx.attr("bins")))
    histogram.edges = {ctx.tensor("bins")};
  else if (SmallVector<int64_t> bins = ctx.integers("bins"); !bins.empty())
    addEdges(ctx, histogram, bins);
  if (histogram.edges.size() != histogram.coordinates.size()) {
    (void)ctx.refuse("needs edges for every dimension of the points");
    return std::nullopt;
  }
  return histogram;
}

LogicalResult replaceHistogram(LowerContext &ctx, Value x) {
  std::optional<Histogram> histogram = histogramOf(ctx, x);
  if (!histogram)
    return failure(); // histogramOf said why
  SmallVector<Value> results = {countPoints(ctx, *histogram, ctx.flag("density"))};
  llvm::append_range(results, histogram->edges);
  results.resize(ctx.numResults());
  return ctx.replace(results);
}

} // namespace

LogicalResult lowerHistogram(LowerContext &ctx) {
  Value x = ctx.flatten(ctx.tensor("self"));
  return replaceHistogram(ctx, ctx.insertDim(x, 1));
}

LogicalResult lowerHistogramdd(LowerContext &ctx) { return replaceHistogram(ctx, ctx.tensor("self")); }

LogicalResult lowerHistogramddEdges(LowerContext &ctx) {
  std::optional<Histogram> histogram = histogramOf(ctx, ctx.tensor("self"));
  return histogram ? ctx.replace(histogram->edges) : failure();
}

//===------------------------------------------------------------------------------------------===//
// Pieces of a dimension
//===------------------------------------------------------------------------------------------===//

LogicalResult lowerSegmentReduce(LowerContext &ctx) {
  Value x = ctx.tensor("data"), offsets = ctx.optionalTensor("offsets"), lengths = ctx.optionalTensor("lengths");
  if (!offsets && !lengths)
    return ctx.refuse("needs lengths or offsets");
  if (!offsets) {
    lengths = ctx.cast(lengths, ctx.i64());
    int64_t last = rankOf(lengths) - 1;
    if (last < 0)
      return ctx.refuse("lengths must have a dimension");
    Value ends = ctx.create<CumsumOp>(lengths.getType(), lengths, last).getResult();
    Sizes start = ctx.sizes(lengths);
    start[last] = 1;
    offsets = ctx.concat({ctx.full(Number::of(int64_t{0}), start, ctx.i64()), ends}, last);
  }
  offsets = ctx.cast(offsets, ctx.i64());
  int64_t axis = ctx.axis("axis", rankOf(x));
  if (rankOf(x) == 0 || rankOf(offsets) != axis + 1)
    return ctx.refuse("lengths or offsets must have the dimensions up to the axis");
  SmallVector<int64_t> shape(shapeOf(x));
  shape[axis] = shapeOf(offsets).back() == kDynamicEntry ? kDynamicEntry : shapeOf(offsets).back() - 1;
  std::optional<double> initial = ctx.optionalReal("initial");
  return ctx.replace(ctx.create<SegmentReduceOp>(withShape(tensorType(x), shape), x, offsets, axis,
                                                 ctx.string("reduce"), llvm::APFloat(initial.value_or(0)),
                                                 initial.has_value())
                         .getResult());
}

} // namespace ingot::lower
