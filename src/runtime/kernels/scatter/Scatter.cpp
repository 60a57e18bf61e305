// scatter and index_put: elements and rows written, or added, at given positions.
#include "runtime/CopyCounter.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/kernels/scatter/Combine.h"

#include <algorithm>

namespace ingot {

Result<CombineAttrs> combineAttrs(const StepContext &context) {
  static constexpr std::array<std::string_view, 6> names = {"none", "add", "prod", "mean", "amax", "amin"};
  CombineAttrs attrs;
  INGOT_TRY(size_t kind, keywordAttr(context, "reduce", names));
  INGOT_TRY(attrs.includesSelf, requiredAttr<bool>(context, "include_self"));
  attrs.kind = static_cast<Combine>(kind);
  return attrs;
}

namespace {

int64_t product(std::span<const int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

//===------------------------------------------------------------------------------------------===//
// scatter
//===------------------------------------------------------------------------------------------===//

struct ScatterProblem {
  std::vector<int64_t> xStrides, sourceStrides;
  size_t axis = 0;
  int64_t xCount = 0, axisSize = 0;
  int64_t length = 1; ///< elements of a run: neighbours that one position is for
  TensorDesc index;   ///< without the dimensions of a run
  StridedCopy start;  ///< x into the result
  CombineAttrs attrs;
  bool countsFromEnd = true;
};

template <typename T, Combine kind> class Scatter final : public BoundKernel {
public:
  Scatter(const std::string &name, ScatterProblem given)
      : problem(std::move(given)),
        positions(name, problem.index, problem.index.sizes, problem.axisSize, problem.countsFromEnd) {}

  size_t scratchBytes() const override {
    const int64_t counts = kind == Combine::Mean ? problem.xCount : 0;
    return static_cast<size_t>(positions.count() + counts) * sizeof(int64_t);
  }

  Status run(const KernelArgs &args) const override {
    auto *position = static_cast<int64_t *>(args.scratch);
    INGOT_CHECK(positions.read(args.operands[1], position));
    if (args.operands[0] != args.results[0])
      problem.start.run(args.operands[0], args.results[0]);
    combineAll<T, kind>(
        static_cast<T *>(args.results[0]), static_cast<const T *>(args.operands[2]), positions.count(), problem.length,
        problem.attrs.includesSelf, [&](int64_t i) { return place(i, position[i]); }, position + positions.count(),
        problem.xCount);
    return {};
  }

private:
  std::pair<int64_t, int64_t> place(int64_t i, int64_t position) const {
    int64_t to = 0, from = 0;
    for (size_t d = problem.index.sizes.size(); d-- > 0;) {
      const int64_t coordinate = i % problem.index.sizes[d];
      i /= problem.index.sizes[d];
      to += (d == problem.axis ? position : coordinate) * problem.xStrides[d];
      from += coordinate * problem.sourceStrides[d];
    }
    return {to, from};
  }

  ScatterProblem problem;
  Positions positions;
};

/// An index that is expanded over the last dimensions, as those of graph networks are, has one position for a whole run
/// of neighbours.
void takeRuns(ScatterProblem &problem, const TensorDesc &x) {
  TensorDesc &index = problem.index;
  while (index.sizes.size() > problem.axis + 1) {
    const size_t last = index.sizes.size() - 1;
    const bool isExpanded = index.sizes[last] == 1 || index.strides[last] == 0;
    // Runs of an inner dimension follow each other only where they are all of x.
    const bool isNext = problem.sourceStrides[last] == problem.length && problem.xStrides[last] == problem.length;
    if (!isExpanded || !isNext)
      return;
    problem.length *= index.sizes[last];
    index.sizes.pop_back();
    index.strides.pop_back();
    if (problem.length != problem.xStrides[last] * x.sizes[last])
      return;
  }
}

Result<ScatterProblem> makeScatter(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 3, 3));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *index, tensorAt(context, 1));
  INGOT_TRY(const TensorDesc *source, tensorAt(context, 2));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", x->sizes.size()));
  INGOT_CHECK(checkIndexType(context, *index));
  ScatterProblem problem;
  INGOT_TRY(problem.attrs, combineAttrs(context));
  if (source->dtype != x->dtype || context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "operand, source and result are not of one element type");
  const size_t rank = x->sizes.size();
  if (index->sizes.size() != rank || source->sizes.size() != rank)
    return badShapes(context, "operand, index and source have different numbers of dimensions");
  problem.axis = static_cast<size_t>(axis);
  for (size_t i = 0; index->numel() != 0 && i < rank; ++i)
    if (index->sizes[i] > source->sizes[i] || (i != problem.axis && index->sizes[i] > x->sizes[i]))
      return badShapes(context, "the index is larger than the operand or the source");
  const TensorDesc result = TensorDesc::contiguous(x->dtype, x->sizes);
  problem.xStrides = result.strides;
  problem.sourceStrides = source->strides;
  problem.start = makeCopy(result, *x);
  problem.xCount = x->numel();
  problem.axisSize = x->sizes[problem.axis];
  problem.index = *index;
  takeRuns(problem, *x);
  problem.countsFromEnd = countsFromEnd(context);
  if (index->numel() == 0)
    problem.attrs.kind = Combine::None; // as good as any where there is nothing to combine, and of every type
  return problem;
}

Result<std::unique_ptr<BoundKernel>> bindScatter(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(ScatterProblem problem, makeScatter(context));
  const std::string &name = context.step.kernel;
  return dispatchCombine(name, context.operands[0].desc.dtype, problem.attrs.kind,
                         [&]<typename T, Combine kind>() { return makeKernel<Scatter<T, kind>>(name, problem); });
}

Result<std::vector<ResultDesc>> inferScatter(const StepContext &context) {
  // An expanded index may be more than its elements; the scratch for it must not overflow.
  INGOT_TRY(const TensorDesc *index, tensorAt(context, 1));
  INGOT_TRY(auto scratch, denseResult(context, TensorDesc::contiguous(DType::Complex128, index->sizes)));
  (void)scratch;
  INGOT_TRY(auto kernel, bindScatter(context, {})); // refuses what does not fit
  (void)kernel;
  const TensorDesc &x = context.operands[0].desc;
  return denseResult(context, TensorDesc::contiguous(x.dtype, x.sizes));
}

//===------------------------------------------------------------------------------------------===//
// index_put
//===------------------------------------------------------------------------------------------===//

struct PutProblem {
  std::vector<int64_t> axes, pickSizes;
  int64_t outer = 1, rows = 1, inner = 1;
  CombineAttrs attrs;
};

template <typename T, Combine kind> class IndexPut final : public BoundKernel {
public:
  IndexPut(const StepContext &context, PutProblem given)
      : problem(std::move(given)), count(product(problem.pickSizes)) {
    const std::span<const int64_t> sizes(context.operands[0].desc.sizes);
    const auto first = static_cast<size_t>(problem.axes.front()), last = static_cast<size_t>(problem.axes.back());
    for (size_t axis = first; axis <= last; ++axis) {
      indices.emplace_back(context.step.kernel, context.operands[axis - first + 2].desc, problem.pickSizes, sizes[axis],
                           countsFromEnd(context));
      rowStrides.push_back(product(sizes.subspan(axis + 1, last - axis)));
    }
  }

  size_t scratchBytes() const override {
    const int64_t counts = kind == Combine::Mean ? xCount() : 0;
    return static_cast<size_t>(2 * count + counts) * sizeof(int64_t);
  }

  Status run(const KernelArgs &args) const override {
    auto *row = static_cast<int64_t *>(args.scratch);
    INGOT_CHECK(findRows(args, row, row + count));
    // x is the result before anything is written, unless it is in the same memory already.
    if (args.operands[0] != args.results[0])
      countedCopy(args.results[0], args.operands[0], static_cast<size_t>(xCount()) * sizeof(T));
    combineAll<T, kind>(
        static_cast<T *>(args.results[0]), static_cast<const T *>(args.operands[1]), problem.outer * count,
        problem.inner, problem.attrs.includesSelf,
        [&](int64_t pick) {
          const int64_t to = (pick / count * problem.rows + row[pick % count]) * problem.inner;
          return std::pair(to, pick * problem.inner);
        },
        row + 2 * count, xCount());
    return {};
  }

private:
  int64_t xCount() const { return problem.outer * problem.rows * problem.inner; }

  Status findRows(const KernelArgs &args, int64_t *result, int64_t *single) const {
    std::fill_n(result, count, 0);
    for (size_t a = 0; a < indices.size(); ++a) {
      INGOT_CHECK(indices[a].read(args.operands[a + 2], single));
      for (int64_t i = 0; i < count; ++i)
        result[i] += single[i] * rowStrides[a];
    }
    return {};
  }

  PutProblem problem;
  int64_t count;
  std::vector<Positions> indices;
  std::vector<int64_t> rowStrides;
};

/// The sizes of what is put: those of x, with the indexed dimensions replaced.
std::vector<int64_t> putSizes(const TensorDesc &x, const PutProblem &problem) {
  std::vector<int64_t> sizes(x.sizes.begin(), x.sizes.begin() + problem.axes.front());
  sizes.insert(sizes.end(), problem.pickSizes.begin(), problem.pickSizes.end());
  sizes.insert(sizes.end(), x.sizes.begin() + problem.axes.back() + 1, x.sizes.end());
  return sizes;
}

Result<PutProblem> makePut(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 3, 66));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(const TensorDesc *source, tensorAt(context, 1));
  PutProblem problem;
  INGOT_TRY(problem.attrs, combineAttrs(context));
  const size_t count = context.operands.size() - 2;
  INGOT_TRY(problem.axes, listAttr(context, "axes", count, 0, static_cast<int64_t>(x->sizes.size()) - 1));
  for (size_t i = 0; i < count; ++i) {
    INGOT_TRY(const TensorDesc *index, tensorAt(context, i + 2));
    INGOT_CHECK(checkIndexType(context, *index));
    INGOT_TRY(problem.pickSizes, broadcastSizes(context, problem.pickSizes, index->sizes));
    if (i > 0 && problem.axes[i] != problem.axes[i - 1] + 1)
      return badStep(context, "the indexed dimensions are not consecutive");
  }
  if (source->dtype != x->dtype || context.resultTypes[0].dtype != x->dtype)
    return badStep(context, "operand, source and result are not of one element type");
  if (source->sizes != putSizes(*x, problem))
    return badShapes(context, "the source has not the sizes that the indices pick");
  const std::span<const int64_t> sizes(x->sizes);
  const auto first = static_cast<size_t>(problem.axes.front()), last = static_cast<size_t>(problem.axes.back());
  problem.outer = product(sizes.first(first));
  problem.rows = product(sizes.subspan(first, last - first + 1));
  problem.inner = product(sizes.subspan(last + 1));
  if (product(problem.pickSizes) == 0)
    problem.attrs.kind = Combine::None; // see makeScatter
  return problem;
}

Result<std::unique_ptr<BoundKernel>> bindPut(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(PutProblem problem, makePut(context));
  return dispatchCombine(context.step.kernel, context.operands[0].desc.dtype, problem.attrs.kind,
                         [&]<typename T, Combine kind>() { return makeKernel<IndexPut<T, kind>>(context, problem); });
}

Result<std::vector<ResultDesc>> inferPut(const StepContext &context) {
  INGOT_TRY(PutProblem problem, makePut(context));
  // Broadcast indices may be more than their elements; the scratch for them must not overflow either.
  INGOT_TRY(auto scratch, denseResult(context, TensorDesc::contiguous(DType::Complex128, problem.pickSizes)));
  (void)scratch;
  INGOT_TRY(auto kernel, bindPut(context, {})); // refuses types that do not fit
  (void)kernel;
  const TensorDesc &x = context.operands[0].desc;
  return denseResult(context, TensorDesc::contiguous(x.dtype, x.sizes));
}

} // namespace

extern const KernelDef kernelDef_scatter = {"scatter", inferScatter, bindScatter, true, 1};
extern const KernelDef kernelDef_index_put = {"index_put", inferPut, bindPut, false, 1};

} // namespace ingot
