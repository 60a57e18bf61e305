// nonzero and nonzero_static: the positions of elements that are not zero.
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/order/Lines.h"
#include "runtime/kernels/view/View.h"

namespace ingot {
namespace {

/// Writes the coordinates of element `index`.
void writePosition(int64_t *row, std::span<const int64_t> sizes, int64_t index) {
  for (size_t d = sizes.size(); d-- > 0;) {
    row[d] = index % sizes[d];
    index /= sizes[d];
  }
}

template <typename T> bool isThere(T x) { return scalar::cast<bool>(x); }

template <typename T> Result<std::vector<EvaluatedResult>> positionsOf(const StepContext &context) {
  const TensorDesc &x = context.operands[0].desc;
  const auto *data = static_cast<const T *>(context.operands[0].data);
  const int64_t count = x.numel(), rank = static_cast<int64_t>(x.sizes.size());
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i)
    found += isThere(data[i]);
  INGOT_TRY(EvaluatedResult result, evaluatedResult(context, DType::Int64, {found, rank}));
  auto *row = reinterpret_cast<int64_t *>(result.data.get());
  for (int64_t i = 0; i < count; ++i)
    if (isThere(data[i])) {
      writePosition(row, x.sizes, i);
      row += rank;
    }
  std::vector<EvaluatedResult> results;
  results.push_back(std::move(result));
  return results;
}

Result<std::vector<EvaluatedResult>> evaluateNonzero(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  return dispatchType < RealTypes |
         ComplexTypes > (context.step.kernel, x->dtype, [&]<typename T>() { return positionsOf<T>(context); });
}

template <typename T> class NonzeroStatic final : public BoundKernel {
public:
  NonzeroStatic(const TensorDesc &x, int64_t rows, int64_t fill)
      : sizes(x.sizes), count(x.numel()), rows(rows), fill(fill) {}

  Status run(const KernelArgs &args) const override {
    const auto *x = static_cast<const T *>(args.operands[0]);
    auto *row = static_cast<int64_t *>(args.results[0]);
    const auto rank = static_cast<int64_t>(sizes.size());
    int64_t found = 0;
    for (int64_t i = 0; i < count && found < rows; ++i)
      if (isThere(x[i]))
        writePosition(row + found++ * rank, sizes, i);
    std::fill_n(row + found * rank, (rows - found) * rank, fill);
    return {};
  }

private:
  std::vector<int64_t> sizes;
  int64_t count, rows, fill;
};

Result<int64_t> rowsOf(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 2));
  INGOT_TRY(auto rows, dynamicListAttr(context, "rows", 1));
  if (rows.size() != 1 || rows[0] < 0)
    return badShapes(context, "the number of rows is negative or missing");
  return rows[0];
}

Result<std::vector<ResultDesc>> inferNonzeroStatic(const StepContext &context) {
  INGOT_TRY(int64_t rows, rowsOf(context));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t fill, requiredAttr<int64_t>(context, "fill"));
  (void)fill;
  if (context.resultTypes[0].dtype != DType::Int64)
    return badStep(context, "the result is not int64");
  return denseResult(context, TensorDesc::contiguous(DType::Int64, {rows, static_cast<int64_t>(x->sizes.size())}));
}

Result<std::unique_ptr<BoundKernel>> bindNonzeroStatic(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(int64_t rows, rowsOf(context));
  INGOT_TRY(int64_t fill, requiredAttr<int64_t>(context, "fill"));
  const TensorDesc &x = context.operands[0].desc;
  return dispatchType < RealTypes | ComplexTypes > (context.step.kernel, x.dtype, [&]<typename T>() {
                                      return makeKernel<NonzeroStatic<T>>(x, rows, fill);
                                    });
}

} // namespace

extern const KernelDef kernelDef_nonzero = {"nonzero", nullptr, nullptr, false, 0, evaluateNonzero};
extern const KernelDef kernelDef_nonzero_static = {"nonzero_static", inferNonzeroStatic, bindNonzeroStatic, false};

} // namespace ingot
