#include "runtime/kernels/sequence/Recurrent.h"

#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Widened.h"
#include "runtime/kernels/gemm/Product.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

/// Elements of the hidden state that one thread updates sooner than it wakes another.
constexpr int64_t kRowElements = 1024;

Status checkShapes(const StepContext &context, RecurrentProblem &problem) {
  INGOT_TRY(const TensorDesc *gates, tensorAt(context, RecurrentGates));
  INGOT_TRY(const TensorDesc *h, tensorAt(context, RecurrentH));
  INGOT_TRY(const TensorDesc *weight, tensorAt(context, RecurrentWeight));
  const int64_t parts = problem.cell == RecurrentCell::Lstm ? 4 : problem.cell == RecurrentCell::Gru ? 3 : 1;
  if (gates->sizes.size() != (problem.isPacked ? 2U : 3U) || h->sizes.size() != 2 || weight->sizes.size() != 2)
    return badShapes(context, "gates, hidden state or weight have the wrong number of dimensions");
  problem.dtype = gates->dtype;
  problem.gates = gates->sizes.back();
  problem.hidden = problem.gates / parts;
  problem.batch = h->sizes[0];
  problem.projected = h->sizes[1];
  const bool fits = problem.hidden * parts == problem.gates && weight->sizes[0] == problem.gates &&
                    weight->sizes[1] == problem.projected && h->dtype == problem.dtype &&
                    weight->dtype == problem.dtype && problem.gates <= kMaxExtent && problem.projected <= kMaxExtent;
  if (!fits || (!problem.isPacked && gates->sizes[1] != problem.batch))
    return badShapes(context, "gates, hidden state and weight do not fit together");
  if (!problem.isPacked)
    problem.steps = gates->sizes[0];
  problem.rows = problem.isPacked ? gates->sizes[0] : problem.steps * problem.batch;
  std::vector<int64_t> sequence = gates->sizes;
  sequence.back() = problem.projected;
  problem.sequence = TensorDesc::contiguous(problem.dtype, std::move(sequence));
  problem.h = TensorDesc::contiguous(problem.dtype, h->sizes);
  problem.c = TensorDesc::contiguous(problem.dtype, {problem.batch, problem.hidden});
  return {};
}

Status checkOptional(const StepContext &context, RecurrentProblem &problem) {
  auto check = [&](size_t index, const std::vector<int64_t> &sizes, bool &isThere) -> Status {
    INGOT_TRY(const TensorDesc *operand, optionalTensorAt(context, index));
    isThere = operand != nullptr;
    if (operand && (operand->sizes != sizes || operand->dtype != problem.dtype))
      return badShapes(context, "operand " + std::to_string(index) + " does not fit the gates");
    return {};
  };
  bool hasCell = false;
  INGOT_CHECK(check(RecurrentC, problem.c.sizes, hasCell));
  INGOT_CHECK(check(RecurrentBias, {problem.gates}, problem.hasBias));
  INGOT_CHECK(check(RecurrentProjection, {problem.projected, problem.hidden}, problem.hasProjection));
  const bool isLstm = problem.cell == RecurrentCell::Lstm;
  if (hasCell != isLstm || context.resultTypes.size() != (isLstm ? 3U : 2U))
    return badStep(context, "the cell lstm alone has a cell state");
  if (!problem.hasProjection && problem.projected != problem.hidden)
    return badShapes(context, "the hidden state has not the gates' size");
  if (problem.hasProjection && !isLstm)
    return badStep(context, "the cell lstm alone has a projection");
  return {};
}

template <typename T> class Recurrent final : public BoundKernel {
  using C = scalar::Compute<T>;
  static constexpr bool isSmall = !std::is_same_v<T, C>;

  struct Buffers {
    C *h, *c, *state, *wide, *weight, *projection, *bias, *input;
  };

public:
  /// `weight` is set where it is constant.
  Recurrent(RecurrentProblem p, const void *weight) : problem(std::move(p)) {
    const bool isEmpty = problem.gates == 0 || problem.projected == 0;
    if (weight && !isEmpty && std::is_same_v<C, float> && (problem.dtype == DType::Float32 || isHalf(problem.dtype)) &&
        gemm::canComputeTiles())
      panels = gemm::sharedPanels(
          {weight, {problem.projected}, {1}, problem.gates, problem.projected, false, problem.dtype});
  }

  size_t scratchBytes() const override {
    const auto &p = problem;
    int64_t count = p.batch * (p.projected + 2 * p.hidden + p.gates);
    if constexpr (isSmall) // the constants, and a step's gates, in float
      count += p.gates * p.projected + p.projected * p.hidden + p.gates + p.batch * p.gates;
    return static_cast<size_t>(count) * sizeof(C);
  }

  Status run(const KernelArgs &args) const override {
    std::vector<int64_t> sizes;
    INGOT_CHECK(readBatchSizes(args, sizes));
    Buffers buffers = makeBuffers(args);
    std::vector<int64_t> offsets(sizes.size());
    int64_t total = 0;
    for (size_t t = 0; t < sizes.size(); ++t) {
      offsets[t] = total;
      total += sizes[t];
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      const size_t t = problem.reverse ? sizes.size() - 1 - i : i;
      step(args, buffers, offsets[t], sizes[t]);
    }
    store(buffers.h, args.results[1], problem.batch * problem.projected);
    if (problem.cell == RecurrentCell::Lstm)
      store(buffers.c, args.results[2], problem.batch * problem.hidden);
    return {};
  }

private:
  /// The number of rows of each step: never more than the step before, all of them those of the gates.
  Status readBatchSizes(const KernelArgs &args, std::vector<int64_t> &sizes) const {
    if (!problem.isPacked) {
      sizes.assign(static_cast<size_t>(problem.steps), problem.batch);
      return {};
    }
    const auto *given = static_cast<const int64_t *>(args.operands[RecurrentBatchSizes]);
    int64_t total = 0, limit = problem.batch;
    for (int64_t t = 0; t < problem.steps; ++t) {
      if (given[t] < 1 || given[t] > limit)
        return usageError("recurrent: the batch sizes must be positive and must not grow");
      limit = given[t];
      total += given[t];
      sizes.push_back(given[t]);
    }
    if (total != problem.rows)
      return usageError("recurrent: the batch sizes do not add up to the packed rows");
    return {};
  }

  const C *constant(const KernelArgs &args, size_t index, C *copy, int64_t count) const {
    if constexpr (isSmall) {
      load(args.operands[index], copy, count);
      return copy;
    } else {
      return static_cast<const C *>(args.operands[index]);
    }
  }

  static void load(const void *from, C *to, int64_t count) {
    const T *source = static_cast<const T *>(from);
    for (int64_t i = 0; i < count; ++i)
      to[i] = scalar::cast<C>(source[i]);
  }

  static void store(const C *from, void *to, int64_t count) {
    T *target = static_cast<T *>(to);
    for (int64_t i = 0; i < count; ++i)
      target[i] = scalar::cast<T>(from[i]);
  }

  Buffers makeBuffers(const KernelArgs &args) const {
    const auto &p = problem;
    C *next = static_cast<C *>(args.scratch);
    auto take = [&](int64_t count) { return std::exchange(next, next + count); };
    Buffers b{};
    b.h = take(p.batch * p.projected);
    b.c = take(p.batch * p.hidden);
    b.wide = take(p.batch * p.hidden);
    b.state = take(p.batch * p.gates);
    load(args.operands[RecurrentH], b.h, p.batch * p.projected);
    if (p.cell == RecurrentCell::Lstm)
      load(args.operands[RecurrentC], b.c, p.batch * p.hidden);
    if constexpr (isSmall) {
      b.weight = take(p.gates * p.projected);
      b.projection = take(p.projected * p.hidden);
      b.bias = take(p.gates);
      b.input = take(p.batch * p.gates);
    }
    b.weight = const_cast<C *>(constant(args, RecurrentWeight, b.weight, p.gates * p.projected));
    if (p.hasProjection)
      b.projection = const_cast<C *>(constant(args, RecurrentProjection, b.projection, p.projected * p.hidden));
    b.bias = p.hasBias ? const_cast<C *>(constant(args, RecurrentBias, b.bias, p.gates)) : nullptr;
    return b;
  }

  static void multiply(const C *a, const C *b, C *c, int64_t m, int64_t n, int64_t k) {
    if constexpr (std::is_same_v<C, float>) {
      multiplyTransposed(a, b, c, m, n, k);
    } else {
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          C sum(0);
          for (int64_t l = 0; l < k; ++l)
            sum += a[i * k + l] * b[j * k + l];
          c[i * n + j] = sum;
        }
    }
  }

  /// What the hidden state contributes to the gates.
  void multiplyHidden(Buffers &b, int64_t rows) const {
    const auto &p = problem;
    if constexpr (std::is_same_v<C, float>)
      if (panels) {
        constexpr int64_t noTap = 0;
        return gemm::multiplyMatrix({panels->view(), {&noTap, 1}, p.projected, b.state, p.gates, {}},
                                    {b.h, p.projected, 0, rows});
      }
    multiply(b.h, b.weight, b.state, rows, p.gates, p.projected);
  }

  /// 16-bit types keep their states, and products, in 16 bits.
  static void roundAll([[maybe_unused]] C *values, [[maybe_unused]] int64_t count) {
    if constexpr (isSmall)
      for (int64_t i = 0; i < count; ++i)
        values[i] = scalar::cast<C>(scalar::cast<T>(values[i]));
  }

  void step(const KernelArgs &args, Buffers &b, int64_t offset, int64_t rows) const {
    const auto &p = problem;
    multiplyHidden(b, rows);
    if constexpr (isSmall) {
      for (int64_t i = 0; b.bias && i < rows * p.gates; ++i)
        b.state[i] += b.bias[i % p.gates];
      roundAll(b.state, rows * p.gates);
    }
    const T *gates = static_cast<const T *>(args.operands[RecurrentGates]) + offset * p.gates;
    const C *input = nullptr;
    if constexpr (isSmall) {
      load(gates, b.input, rows * p.gates);
      input = b.input;
    } else {
      input = gates;
    }
    C *h = p.hasProjection ? b.wide : b.h;
    parallelFor(0, rows, std::max<int64_t>(1, kRowElements / std::max<int64_t>(1, p.hidden)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    updateRow({input + i * p.gates, b.state + i * p.gates, isSmall ? nullptr : b.bias, h + i * p.hidden,
                               b.c + i * p.hidden, p.hidden});
                });
    roundAll(b.c, rows * p.hidden);
    roundAll(h, rows * p.hidden);
    if (p.hasProjection) {
      multiply(b.wide, b.projection, b.h, rows, p.projected, p.hidden);
      roundAll(b.h, rows * p.projected);
    }
    store(b.h, static_cast<T *>(args.results[0]) + offset * p.projected, rows * p.projected);
  }

  void updateRow(const CellRow<C> &row) const {
    if constexpr (std::is_same_v<C, float>)
      recurrentRow(problem.cell, row);
    else if (problem.cell == RecurrentCell::Lstm)
      lstmRow(row);
    else if (problem.cell == RecurrentCell::Gru)
      gruRow(row);
    else
      plainRow(row, problem.cell == RecurrentCell::Relu);
  }

  RecurrentProblem problem;
  std::shared_ptr<const gemm::Panels> panels; ///< of the weight, if it is constant
};

Result<std::vector<ResultDesc>> inferRecurrent(const StepContext &context) {
  INGOT_TRY(RecurrentProblem problem, recurrentProblem(context));
  INGOT_TRY(auto results, denseResult(context, problem.sequence));
  INGOT_TRY(auto h, denseResult(context, problem.h));
  results.push_back(std::move(h[0]));
  if (problem.cell == RecurrentCell::Lstm) {
    INGOT_TRY(auto c, denseResult(context, problem.c));
    results.push_back(std::move(c[0]));
  }
  return results;
}

Result<std::unique_ptr<BoundKernel>> bindRecurrent(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(RecurrentProblem problem, recurrentProblem(context));
  return dispatchType<FloatTypes>("recurrent", problem.dtype, [&]<typename T>() {
    return makeKernel<Recurrent<T>>(std::move(problem), context.operands[RecurrentWeight].data);
  });
}

} // namespace

Result<RecurrentProblem> recurrentProblem(const StepContext &context) {
  static constexpr std::array<std::string_view, 4> cells = {"lstm", "gru", "tanh", "relu"};
  RecurrentProblem problem;
  INGOT_TRY(size_t cell, keywordAttr(context, "cell", cells));
  problem.cell = static_cast<RecurrentCell>(cell);
  INGOT_CHECK(checkCounts(context, 7, 7, problem.cell == RecurrentCell::Lstm ? 3 : 2));
  INGOT_TRY(problem.reverse, requiredAttr<bool>(context, "reverse"));
  INGOT_TRY(const TensorDesc *batchSizes, optionalTensorAt(context, RecurrentBatchSizes));
  problem.isPacked = batchSizes != nullptr;
  if (batchSizes && (batchSizes->sizes.size() != 1 || batchSizes->dtype != DType::Int64))
    return badShapes(context, "the batch sizes are no list of int64");
  if (batchSizes)
    problem.steps = batchSizes->sizes[0];
  INGOT_CHECK(checkShapes(context, problem));
  INGOT_CHECK(checkOptional(context, problem));
  return problem;
}

extern const KernelDef kernelDef_recurrent = {"recurrent", inferRecurrent, bindRecurrent, false};

} // namespace ingot
