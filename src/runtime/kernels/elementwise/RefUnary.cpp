// Ops of one operand, and `cast`.
#include "runtime/kernels/elementwise/Ref.h"

namespace ingot {
namespace {

/// abs of complex numbers gives real ones; all other types are as listed.
struct AbsKernel {
  struct Op {
    static constexpr size_t arity = 1;
    static constexpr unsigned types = kinds::ALL;
    static constexpr bool isPredicate = false;
    static auto apply(auto x) { return scalar::abs(x); }
  };

  template <typename T>
  static void complexRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
    for (int64_t i = 0; i < count; ++i)
      element<T>(p[0] + i * s[0]) = std::abs(element<std::complex<T>>(p[1] + i * s[1]));
  }

  static Result<std::vector<ResultDesc>> infer(const StepContext &context) {
    INGOT_TRY(TensorDesc desc, inferElementwise(context, 1));
    if (desc.dtype == DType::Complex64)
      return elementwiseResult(context, std::move(desc), DType::Float32);
    if (desc.dtype == DType::Complex128)
      return elementwiseResult(context, std::move(desc), DType::Float64);
    return ElementwiseKernel<Op>::infer(context);
  }

  static Result<std::unique_ptr<BoundKernel>> bind(const StepContext &context, std::span<const TensorDesc> results) {
    const DType dtype = context.operands[0].desc.dtype;
    if (dtype == DType::Complex64)
      return makeRowKernel(context, results[0], &complexRow<float>);
    if (dtype == DType::Complex128)
      return makeRowKernel(context, results[0], &complexRow<double>);
    return ElementwiseKernel<Op>::bind(context, results);
  }
};

template <typename From, typename To>
void castRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  for (int64_t i = 0; i < count; ++i)
    element<To>(p[0] + i * s[0]) = scalar::cast<To>(element<From>(p[1] + i * s[1]));
}

/// complex32 is a type of storage only: it is converted, and nothing is computed in it.
struct ComplexHalf {
  Half real, imag;
};

template <typename From>
void toComplexHalfRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  for (int64_t i = 0; i < count; ++i) {
    const auto x = scalar::cast<std::complex<float>>(element<From>(p[1] + i * s[1]));
    element<ComplexHalf>(p[0] + i * s[0]) = {Half(x.real()), Half(x.imag())};
  }
}

template <typename To>
void fromComplexHalfRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  for (int64_t i = 0; i < count; ++i) {
    const auto x = element<ComplexHalf>(p[1] + i * s[1]);
    const std::complex<float> wide(static_cast<float>(x.real), static_cast<float>(x.imag));
    element<To>(p[0] + i * s[0]) = scalar::cast<To>(wide);
  }
}

Result<RowFunction> castRowFor(const StepContext &context) {
  const std::string &name = context.step.kernel;
  const DType to = context.resultTypes[0].dtype;
  if (to == DType::Complex32)
    return dispatchType<EveryType>(name, context.operands[0].desc.dtype,
                                   []<typename From>() { return Result<RowFunction>(&toComplexHalfRow<From>); });
  if (context.operands[0].desc.dtype == DType::Complex32)
    return dispatchType<EveryType>(name, to,
                                   []<typename To>() { return Result<RowFunction>(&fromComplexHalfRow<To>); });
  return dispatchType<EveryType>(name, context.operands[0].desc.dtype, [&]<typename From>() {
    return dispatchType<EveryType>(name, to, []<typename To>() { return Result<RowFunction>(&castRow<From, To>); });
  });
}

Result<std::vector<ResultDesc>> inferCast(const StepContext &context) {
  INGOT_TRY(TensorDesc desc, inferElementwise(context, 1));
  INGOT_TRY(RowFunction row, castRowFor(context));
  (void)row;
  return elementwiseResult(context, std::move(desc), context.resultTypes[0].dtype);
}

Result<std::unique_ptr<BoundKernel>> bindCast(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(RowFunction row, castRowFor(context));
  return makeRowKernel(context, results[0], row);
}

} // namespace

extern const KernelDef kernelDef_cast = {"cast", inferCast, bindCast, true};
extern const KernelDef kernelDef_abs = {"abs", AbsKernel::infer, AbsKernel::bind, true};

#define SCALAR_ABS(op, kinds) // above
#define SCALAR_UNARY(op, kinds) INGOT_ELEMENTWISE(op, kinds, 1, false)
#define SCALAR_TEST(op, kinds) INGOT_ELEMENTWISE(op, kinds, 1, true)
#include "runtime/kernels/elementwise/scalar_ops.inc"

} // namespace ingot
