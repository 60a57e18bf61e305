#include "runtime/kernels/linalg/Batched.h"

#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/threads/Pool.h"

#include <mutex>

namespace ingot::linalg {
namespace {

Options readOptions(const StepContext &context) {
  Options options;
  options.upper = context.attr("upper", false);
  options.unit = context.attr("unit", false);
  options.adjoint = context.attr("adjoint", false);
  options.left = context.attr("left", true);
  options.full = context.attr("full", false);
  options.hermitian = context.attr("hermitian", false);
  options.rcond = context.attr("rcond", 0.0);
  options.check = context.attr("check", std::string());
  return options;
}

bool isComplexType(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }

/// The element types that matrices, pivots and numbers are read from and written to.
template <typename F> bool visitType(DType dtype, F &&visit) {
  switch (dtype) {
  case DType::Float32:
    return visit(float()), true;
  case DType::Float64:
    return visit(double()), true;
  case DType::Complex64:
    return visit(std::complex<float>()), true;
  case DType::Complex128:
    return visit(std::complex<double>()), true;
  case DType::Int32:
    return visit(int32_t()), true;
  case DType::Int64:
    return visit(int64_t()), true;
  default:
    return false;
  }
}

template <typename To, typename From> To convert(From x) {
  if constexpr (std::is_same_v<From, std::complex<float>> || std::is_same_v<From, Complex>) {
    if constexpr (std::is_same_v<To, std::complex<float>> || std::is_same_v<To, Complex>)
      return To(static_cast<typename To::value_type>(x.real()), static_cast<typename To::value_type>(x.imag()));
    else
      return static_cast<To>(x.real());
  } else {
    if constexpr (std::is_same_v<To, std::complex<float>> || std::is_same_v<To, Complex>)
      return To(static_cast<typename To::value_type>(x));
    else
      return static_cast<To>(x);
  }
}

struct Layout {
  DType dtype;
  Extent extent;

  int64_t count() const { return extent.rows * extent.columns; }
};

template <typename T> void load(const Layout &layout, const void *data, int64_t batch, Matrix<T> &to) {
  to = Matrix<T>(layout.extent.rows, layout.extent.columns);
  visitType(layout.dtype, [&](auto element) {
    const auto *from = static_cast<const decltype(element) *>(data) + batch * layout.count();
    for (int64_t i = 0; i < layout.count(); ++i)
      to[i] = convert<T>(from[i]);
  });
}

template <typename T> void store(const Layout &layout, void *data, int64_t batch, const Matrix<T> &from) {
  visitType(layout.dtype, [&](auto element) {
    auto *to = static_cast<decltype(element) *>(data) + batch * layout.count();
    for (int64_t i = 0; i < layout.count(); ++i)
      to[i] = convert<decltype(element)>(from[i]);
  });
}

class BatchedKernel final : public BoundKernel {
public:
  Options options;
  const Spec *spec = nullptr;
  bool isComplex = false, isBatch = false;
  int64_t batch = 1;
  std::vector<Layout> operands, results;

  Status run(const KernelArgs &args) const override {
    return isComplex ? runAs(spec->complex, args) : runAs(spec->real, args);
  }

private:
  template <typename T> Status runAs(Status (*function)(const Call<T> &), const KernelArgs &args) const {
    std::mutex mutex;
    int64_t failed = batch; // of several errors, that of the first entry, whatever the threads do
    Status status;
    parallelFor(0, batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Status one = runOne(function, args, i);
        std::lock_guard<std::mutex> lock(mutex);
        if (!one && i < failed) {
          failed = i;
          status = std::move(one);
        }
      }
    });
    return status;
  }

  template <typename T> Status runOne(Status (*function)(const Call<T> &), const KernelArgs &args, int64_t i) const {
    std::vector<Matrix<T>> in(operands.size()), out;
    for (size_t k = 0; k < operands.size(); ++k)
      load(operands[k], args.operands[k], i, in[k]);
    for (const Layout &result : results)
      out.emplace_back(result.extent.rows, result.extent.columns);
    std::string where = isBatch ? "(Batch element " + std::to_string(i) + "): " : "";
    INGOT_CHECK(function(Call<T>{options, in, out, std::move(where)}));
    for (size_t k = 0; k < results.size(); ++k)
      store(results[k], args.results[k], i, out[k]);
    return {};
  }
};

struct Problem {
  Options options;
  std::vector<int64_t> batch;
  std::vector<Layout> operands, results;
};

Result<Problem> readProblem(const StepContext &context, const Spec &spec) {
  Problem problem;
  problem.options = readOptions(context);
  std::vector<Extent> extents;
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    INGOT_TRY(const TensorDesc *x, tensorAt(context, i));
    const auto trailing = static_cast<size_t>(spec.operands[i]);
    if (x->sizes.size() < trailing)
      return badShapes(context, "an operand has too few dimensions");
    std::vector<int64_t> batch(x->sizes.begin(), x->sizes.end() - spec.operands[i]);
    if (i == 0)
      problem.batch = batch;
    if (batch != problem.batch)
      return badShapes(context, "the operands have different batches");
    if (!visitType(x->dtype, [](auto) {}))
      return badType(context, x->dtype);
    Extent extent{spec.operands[i], 1, 1};
    if (trailing > 0)
      extent.rows = x->sizes[batch.size()];
    if (trailing > 1)
      extent.columns = x->sizes[batch.size() + 1];
    extents.push_back(extent);
    problem.operands.push_back({x->dtype, extent});
  }
  problem.options.isRealInput = !isComplexType(problem.operands[0].dtype);
  INGOT_TRY(std::vector<Extent> results, spec.results(context, problem.options, extents));
  for (size_t i = 0; i < results.size(); ++i) {
    if (i >= context.resultTypes.size() || !visitType(context.resultTypes[i].dtype, [](auto) {}))
      return badStep(context, "a result is missing or of a type that it cannot have");
    problem.results.push_back({context.resultTypes[i].dtype, results[i]});
  }
  return problem;
}

} // namespace

Result<std::vector<ResultDesc>> inferBatched(const StepContext &context, const Spec &spec) {
  INGOT_CHECK(checkCounts(context, spec.operands.size(), spec.operands.size(), context.resultTypes.size()));
  INGOT_TRY(Problem problem, readProblem(context, spec));
  if (problem.results.size() != context.resultTypes.size())
    return badStep(context, "the number of results is wrong");
  std::vector<ResultDesc> results;
  for (const Layout &layout : problem.results) {
    std::vector<int64_t> sizes = problem.batch;
    if (layout.extent.trailing > 0)
      sizes.push_back(layout.extent.rows);
    if (layout.extent.trailing > 1)
      sizes.push_back(layout.extent.columns);
    INGOT_TRY(auto one, denseResult(context, TensorDesc::contiguous(layout.dtype, std::move(sizes))));
    results.push_back(std::move(one.front()));
  }
  return results;
}

Result<std::unique_ptr<BoundKernel>> bindBatched(const StepContext &context, const Spec &spec,
                                                 std::span<const TensorDesc>) {
  INGOT_TRY(Problem problem, readProblem(context, spec));
  auto kernel = std::make_unique<BatchedKernel>();
  kernel->options = std::move(problem.options);
  kernel->spec = &spec;
  kernel->isComplex = !spec.real;
  for (const Layout &operand : problem.operands)
    kernel->isComplex |= isComplexType(operand.dtype);
  kernel->isBatch = !problem.batch.empty();
  for (int64_t size : problem.batch)
    kernel->batch *= size;
  kernel->operands = std::move(problem.operands);
  kernel->results = std::move(problem.results);
  return std::unique_ptr<BoundKernel>(std::move(kernel));
}

Status checkSquare(const StepContext &context, const Extent &extent) {
  if (extent.rows != extent.columns)
    return badShapes(context, "the matrix must be square, and is " + std::to_string(extent.rows) + " x " +
                                  std::to_string(extent.columns));
  return {};
}

Status checkRows(const StepContext &context, const Extent &a, const Extent &b) {
  if (a.rows != b.rows)
    return badShapes(context, "matrices with " + std::to_string(a.rows) + " and " + std::to_string(b.rows) +
                                  " rows do not fit together");
  return {};
}

Result<std::vector<Extent>> shapeSolve(const StepContext &context, const Options &, std::span<const Extent> in) {
  INGOT_CHECK(checkSquare(context, in[0]));
  INGOT_CHECK(checkRows(context, in[0], in[1]));
  INGOT_CHECK(checkRows(context, in[0], in[2]));
  return std::vector<Extent>{in[2]};
}

} // namespace ingot::linalg
