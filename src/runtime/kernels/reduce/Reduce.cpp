// reduce: sum, prod, max, min, any, all over any dimensions of any type and layout.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

enum class ReduceKind : uint8_t { Sum, Prod, Max, Min, Any, All };

struct ReduceProblem {
  TensorDesc x, result;
  ReduceKind kind = ReduceKind::Sum;
  std::vector<bool> isReduced;
};

/// In which sums are computed: wide enough that their order does not matter much.
template <typename T> struct Accumulator {
  using Type = std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>;
};
template <typename T>
  requires(scalar::Float<scalar::Compute<T>>)
struct Accumulator<T> {
  using Type = double;
};
template <typename T> struct Accumulator<std::complex<T>> {
  using Type = std::complex<double>;
};

// How an element of type T is added to what has been seen. `first` is the result for no elements.
template <typename T, typename Out> struct Sum {
  using Acc = typename Accumulator<Out>::Type;
  static constexpr Acc first() { return Acc(0); }
  static Acc step(Acc acc, T x) { return scalar::add(acc, scalar::cast<Acc>(x)); }
};
template <typename T, typename Out> struct Prod {
  using Acc = typename Accumulator<Out>::Type;
  static constexpr Acc first() { return Acc(1); }
  static Acc step(Acc acc, T x) { return scalar::mul(acc, scalar::cast<Acc>(x)); }
};
template <typename T> constexpr T lowest() {
  if constexpr (scalar::Float<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}
template <typename T> constexpr T highest() {
  if constexpr (scalar::Float<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}
template <typename T, typename> struct Max {
  using Acc = scalar::Compute<T>;
  static constexpr Acc first() { return lowest<Acc>(); }
  static Acc step(Acc acc, T x) { return scalar::maximum(acc, scalar::cast<Acc>(x)); }
};
template <typename T, typename> struct Min {
  using Acc = scalar::Compute<T>;
  static constexpr Acc first() { return highest<Acc>(); }
  static Acc step(Acc acc, T x) { return scalar::minimum(acc, scalar::cast<Acc>(x)); }
};
template <typename T, typename> struct Any {
  using Acc = bool;
  static constexpr Acc first() { return false; }
  static Acc step(Acc acc, T x) { return acc | scalar::cast<bool>(x); }
};
template <typename T, typename> struct All {
  using Acc = bool;
  static constexpr Acc first() { return true; }
  static Acc step(Acc acc, T x) { return acc & scalar::cast<bool>(x); }
};

/// Results computed together, when neighbours in memory belong to different results.
constexpr int64_t kBlock = 256;

/// The dimensions in the input's memory order, split into those that are kept and those that are reduced. The
/// innermost kept one is walked in blocks.
template <typename T, typename Out, template <typename, typename> class Op> class Reduce final : public BoundKernel {
  using Acc = typename Op<T, Out>::Acc;

public:
  explicit Reduce(const ReduceProblem &problem) {
    std::vector<size_t> order;
    for (size_t i = 0; i < problem.x.sizes.size(); ++i)
      if (problem.x.sizes[i] != 1)
        order.push_back(i);
    std::ranges::sort(order, [&](size_t a, size_t b) {
      const int64_t left = std::abs(problem.x.strides[a]), right = std::abs(problem.x.strides[b]);
      return left != right ? left > right : a < b;
    });
    for (size_t i : order) {
      std::vector<Dim> &dims = problem.isReduced[i] ? reduced : kept;
      dims.push_back({problem.x.sizes[i], problem.x.strides[i], problem.result.strides[i]});
    }
    // Blocks of results pay off where they lie together; else each result has its own loop.
    if (!kept.empty() && (reduced.empty() || std::abs(kept.back().in) < std::abs(reduced.back().in))) {
      block = kept.back();
      kept.pop_back();
    }
    for (const Dim &dim : kept)
      outerCount *= dim.size;
  }

  Status run(const KernelArgs &args) const override {
    const int64_t blocks = (block.size + kBlock - 1) / kBlock;
    int64_t work = std::min(block.size, kBlock);
    for (const Dim &dim : reduced)
      work *= std::max<int64_t>(1, dim.size);
    parallelFor(0, outerCount * blocks, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, work)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    runBlock(args, i / blocks, i % blocks * kBlock);
                });
    return {};
  }

private:
  struct Dim {
    int64_t size = 1, in = 0, out = 0;
  };

  void runBlock(const KernelArgs &args, int64_t outer, int64_t start) const {
    int64_t from = start * block.in, to = start * block.out;
    for (size_t d = kept.size(); d-- > 0;) {
      from += outer % kept[d].size * kept[d].in;
      to += outer % kept[d].size * kept[d].out;
      outer /= kept[d].size;
    }
    const int64_t count = std::min(kBlock, block.size - start);
    std::array<Acc, kBlock> acc;
    std::fill_n(acc.begin(), count, Op<T, Out>::first());
    accumulate(static_cast<const T *>(args.operands[0]) + from, 0, acc.data(), count);
    Out *result = static_cast<Out *>(args.results[0]) + to;
    for (int64_t i = 0; i < count; ++i)
      result[i * block.out] = scalar::cast<Out>(acc[static_cast<size_t>(i)]);
  }

  void accumulate(const T *x, size_t d, Acc *acc, int64_t count) const {
    if (d + 1 < reduced.size()) {
      for (int64_t i = 0; i < reduced[d].size; ++i)
        accumulate(x + i * reduced[d].in, d + 1, acc, count);
      return;
    }
    const Dim inner = reduced.empty() ? Dim{} : reduced.back();
    if (count == 1) {
      acc[0] = reduceRow(x, inner, acc[0]);
      return;
    }
    for (int64_t i = 0; i < inner.size; ++i)
      for (int64_t j = 0; j < count; ++j)
        acc[j] = Op<T, Out>::step(acc[j], x[i * inner.in + j * block.in]);
  }

  /// Several partial results, so that additions do not wait for each other.
  static Acc reduceRow(const T *x, const Dim &inner, Acc acc) {
    constexpr int64_t lanes = 8;
    std::array<Acc, lanes> partial;
    partial.fill(Op<T, Out>::first());
    int64_t i = 0;
    for (; i + lanes <= inner.size; i += lanes)
      for (int64_t j = 0; j < lanes; ++j)
        partial[static_cast<size_t>(j)] = Op<T, Out>::step(partial[static_cast<size_t>(j)], x[(i + j) * inner.in]);
    for (; i < inner.size; ++i)
      acc = Op<T, Out>::step(acc, x[i * inner.in]);
    for (Acc value : partial)
      acc = Op<Acc, Acc>::step(acc, value);
    return acc;
  }

  std::vector<Dim> kept, reduced;
  Dim block;
  int64_t outerCount = 1;
};

Result<ReduceProblem> makeProblem(const StepContext &context) {
  static constexpr std::array<std::string_view, 6> kinds = {"sum", "prod", "max", "min", "any", "all"};
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(size_t kind, keywordAttr(context, "kind", kinds));
  INGOT_TRY(auto dims, requiredAttr<std::vector<int64_t>>(context, "dims"));
  ReduceProblem problem;
  problem.x = *x;
  problem.kind = static_cast<ReduceKind>(kind);
  problem.isReduced.assign(x->sizes.size(), false);
  std::vector<int64_t> sizes = x->sizes;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(sizes.size()) || problem.isReduced[static_cast<size_t>(dim)])
      return badStep(context, "a dimension is out of range or given twice: " + std::to_string(dim));
    problem.isReduced[static_cast<size_t>(dim)] = true;
    sizes[static_cast<size_t>(dim)] = 1;
  }
  const bool hasNoElements = x->numel() == 0;
  problem.result = denseLike(context.resultTypes[0].dtype, std::move(sizes), *x);
  const bool isExtreme = problem.kind == ReduceKind::Max || problem.kind == ReduceKind::Min;
  if (isExtreme && hasNoElements && problem.result.numel() != 0)
    return badShapes(context, "an empty dimension has no largest or smallest element");
  return problem;
}

template <template <typename, typename> class Op, unsigned types>
Result<std::unique_ptr<BoundKernel>> makeSame(const std::string &name, const ReduceProblem &problem) {
  if (problem.result.dtype != problem.x.dtype)
    return corruptError(name + ": the result has the wrong element type");
  return dispatchType<types>(name, problem.x.dtype,
                             [&]<typename T>() { return makeKernel<Reduce<T, T, Op>>(problem); });
}

template <template <typename, typename> class Op>
Result<std::unique_ptr<BoundKernel>> makeTest(const std::string &name, const ReduceProblem &problem) {
  if (problem.result.dtype != DType::Bool)
    return corruptError(name + ": the result is not boolean");
  return dispatchType<RealTypes>(name, problem.x.dtype,
                                 [&]<typename T>() { return makeKernel<Reduce<T, bool, Op>>(problem); });
}

/// Sums and products of one type, or into a wider one.
template <template <typename, typename> class Op>
Result<std::unique_ptr<BoundKernel>> makeSum(const std::string &name, const ReduceProblem &problem) {
  if (problem.x.dtype == problem.result.dtype)
    return makeSame < Op, RealTypes | ComplexTypes > (name, problem);
  if (problem.result.dtype == DType::Int64)
    return dispatchType < BoolType | IntTypes > (name, problem.x.dtype, [&]<typename T>() {
                                       return makeKernel<Reduce<T, int64_t, Op>>(problem);
                                     });
  if (problem.result.dtype == DType::Float32)
    return dispatchType<RealTypes>(name, problem.x.dtype,
                                   [&]<typename T>() { return makeKernel<Reduce<T, float, Op>>(problem); });
  if (problem.result.dtype == DType::Float64)
    return dispatchType<RealTypes>(name, problem.x.dtype,
                                   [&]<typename T>() { return makeKernel<Reduce<T, double, Op>>(problem); });
  return unsupportedError(name + ": a sum of " + std::string(dtypeName(problem.x.dtype)) + " as " +
                          std::string(dtypeName(problem.result.dtype)) + " is not supported");
}

Result<std::unique_ptr<BoundKernel>> makeReduce(const StepContext &context, const ReduceProblem &problem) {
  const std::string &name = context.step.kernel;
  switch (problem.kind) {
  case ReduceKind::Sum:
    return makeSum<Sum>(name, problem);
  case ReduceKind::Prod:
    return makeSum<Prod>(name, problem);
  case ReduceKind::Max:
    return makeSame<Max, RealTypes>(name, problem);
  case ReduceKind::Min:
    return makeSame<Min, RealTypes>(name, problem);
  case ReduceKind::Any:
    return makeTest<Any>(name, problem);
  case ReduceKind::All:
    return makeTest<All>(name, problem);
  }
  return badStep(context, "unknown kind");
}

Result<std::vector<ResultDesc>> inferReduce(const StepContext &context) {
  INGOT_TRY(ReduceProblem problem, makeProblem(context));
  INGOT_TRY(auto results, denseResult(context, problem.result));
  INGOT_TRY(auto kernel, makeReduce(context, problem)); // refuses types that do not fit
  (void)kernel;
  return results;
}

Result<std::unique_ptr<BoundKernel>> bindReduce(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(ReduceProblem problem, makeProblem(context));
  return makeReduce(context, problem);
}

} // namespace

extern const KernelDef kernelDef_reduce = {"reduce", inferReduce, bindReduce, true};

} // namespace ingot
