// arg_reduce and cumsum: one walk along an axis for every other position.
#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Strided.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {
namespace {

/// Calls walk(result, x) with the first elements of every line along the axis.
class LineLoop {
public:
  LineLoop(TensorDesc result, TensorDesc x, size_t axis) : length(axis < x.sizes.size() ? x.sizes[axis] : 1) {
    if (axis < x.sizes.size())
      x.sizes[axis] = result.sizes[axis] = 1;
    const TensorDesc *tensors[] = {&result, &x};
    loop = StridedLoop::make(tensors);
  }

  template <typename F> void run(const KernelArgs &args, F walk) const {
    StridedLoop::Pointers base{};
    base[0] = static_cast<char *>(args.results[0]);
    base[1] = static_cast<char *>(args.operands[0]);
    parallelFor(0, loop.count(), std::max<int64_t>(1, 8192 / std::max<int64_t>(1, length)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const StridedLoop::Pointers p = loop.at(base, i);
                    walk(p[0], p[1]);
                  }
                });
  }

  int64_t length;

private:
  StridedLoop loop;
};

struct Line {
  TensorDesc x, result;
  size_t axis = 0;
  int64_t xStride = 0, resultStride = 0;
};

/// A zero-dimensional tensor has one line of one element.
Result<Line> makeLine(const StepContext &context, DType dtype, bool keepsSize) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(const TensorDesc *x, tensorAt(context, 0));
  INGOT_TRY(int64_t axis, axisAttr(context, "axis", std::max<size_t>(1, x->sizes.size())));
  Line line;
  line.x = *x;
  line.axis = static_cast<size_t>(axis);
  std::vector<int64_t> sizes = x->sizes;
  if (!sizes.empty() && !keepsSize) {
    if (sizes[line.axis] == 0)
      return badShapes(context, "an empty dimension has no largest or smallest element");
    sizes[line.axis] = 1;
  }
  line.result = denseLike(dtype, std::move(sizes), *x);
  if (!x->sizes.empty()) {
    line.xStride = x->strides[line.axis];
    line.resultStride = line.result.strides[line.axis];
  }
  return line;
}

//===------------------------------------------------------------------------------------------===//
// arg_reduce
//===------------------------------------------------------------------------------------------===//

template <typename T> class ArgReduce final : public BoundKernel {
public:
  ArgReduce(const Line &line, bool isMinimum)
      : loop(line.result, line.x, line.axis), stride(line.xStride), isMinimum(isMinimum) {}

  Status run(const KernelArgs &args) const override {
    loop.run(args, [&](char *result, const char *data) {
      *reinterpret_cast<int64_t *>(result) = find(reinterpret_cast<const T *>(data));
    });
    return {};
  }

private:
  int64_t find(const T *x) const {
    auto best = scalar::cast<scalar::Compute<T>>(x[0]);
    int64_t position = 0;
    for (int64_t i = 0; i < loop.length && best == best; ++i) { // nothing beats the first NaN
      const auto value = scalar::cast<scalar::Compute<T>>(x[i * stride]);
      if ((isMinimum ? value < best : value > best) || value != value) {
        best = value;
        position = i;
      }
    }
    return position;
  }

  LineLoop loop;
  int64_t stride;
  bool isMinimum;
};

Result<std::vector<ResultDesc>> inferArgReduce(const StepContext &context) {
  INGOT_TRY(Line line, makeLine(context, DType::Int64, false));
  INGOT_TRY(bool isMinimum, requiredAttr<bool>(context, "minimum"));
  (void)isMinimum;
  if (context.resultTypes[0].dtype != DType::Int64)
    return badStep(context, "the result is not int64");
  return denseResult(context, std::move(line.result));
}

Result<std::unique_ptr<BoundKernel>> bindArgReduce(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(Line line, makeLine(context, DType::Int64, false));
  INGOT_TRY(bool isMinimum, requiredAttr<bool>(context, "minimum"));
  return dispatchType<RealTypes>(context.step.kernel, line.x.dtype,
                                 [&]<typename T>() { return makeKernel<ArgReduce<T>>(line, isMinimum); });
}

//===------------------------------------------------------------------------------------------===//
// cumsum
//===------------------------------------------------------------------------------------------===//

template <typename T, typename Out> class Cumsum final : public BoundKernel {
public:
  explicit Cumsum(const Line &line)
      : loop(line.result, line.x, line.axis), xStride(line.xStride), resultStride(line.resultStride) {}

  Status run(const KernelArgs &args) const override {
    // Floats are summed in double, as PyTorch does; integers wrap.
    using C = scalar::Compute<Out>;
    using Acc = std::conditional_t<std::is_same_v<C, float>, double, C>;
    loop.run(args, [&](char *to, const char *from) {
      auto *result = reinterpret_cast<Out *>(to);
      const auto *x = reinterpret_cast<const T *>(from);
      Acc sum(0);
      for (int64_t i = 0; i < loop.length; ++i) {
        sum = scalar::add(sum, scalar::cast<Acc>(x[i * xStride]));
        result[i * resultStride] = scalar::cast<Out>(sum);
      }
    });
    return {};
  }

private:
  LineLoop loop;
  int64_t xStride, resultStride;
};

Result<std::unique_ptr<BoundKernel>> makeCumsum(const StepContext &context, const Line &line) {
  const std::string &name = context.step.kernel;
  if (line.x.dtype == line.result.dtype)
    return dispatchType < IntTypes | FloatTypes |
           ComplexTypes > (name, line.x.dtype, [&]<typename T>() { return makeKernel<Cumsum<T, T>>(line); });
  if (line.result.dtype == DType::Int64)
    return dispatchType < BoolType |
           IntTypes > (name, line.x.dtype, [&]<typename T>() { return makeKernel<Cumsum<T, int64_t>>(line); });
  return badType(context, line.result.dtype);
}

Result<std::vector<ResultDesc>> inferCumsum(const StepContext &context) {
  INGOT_CHECK(checkCounts(context, 1, 1));
  INGOT_TRY(Line line, makeLine(context, context.resultTypes[0].dtype, true));
  INGOT_TRY(auto results, denseResult(context, line.result));
  INGOT_TRY(auto kernel, makeCumsum(context, line)); // refuses types that do not fit
  (void)kernel;
  return results;
}

Result<std::unique_ptr<BoundKernel>> bindCumsum(const StepContext &context, std::span<const TensorDesc>) {
  INGOT_TRY(Line line, makeLine(context, context.resultTypes[0].dtype, true));
  return makeCumsum(context, line);
}

} // namespace

extern const KernelDef kernelDef_arg_reduce = {"arg_reduce", inferArgReduce, bindArgReduce, true};
extern const KernelDef kernelDef_cumsum = {"cumsum", inferCumsum, bindCumsum, true};

} // namespace ingot
