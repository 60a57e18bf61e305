// The kernels of special_ops.inc, and of ops whose result has another type than their operands: parts of complex
// numbers and of floating-point ones.
#include "runtime/kernels/elementwise/Ref.h"
#include "runtime/kernels/special/Special.h"

namespace ingot {
namespace {

/// Complex64 for Float32 and so on; the type itself where there is none.
DType complexOf(DType part) {
  return part == DType::Float32 ? DType::Complex64 : part == DType::Float64 ? DType::Complex128 : part;
}
DType partOf(DType complex) {
  return complex == DType::Complex64 ? DType::Float32 : complex == DType::Complex128 ? DType::Float64 : complex;
}

template <typename T, bool isImaginary>
void partRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  for (int64_t i = 0; i < count; ++i) {
    const auto x = element<std::complex<T>>(p[1] + i * s[1]);
    element<T>(p[0] + i * s[0]) = isImaginary ? x.imag() : x.real();
  }
}

template <typename T> void complexRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  for (int64_t i = 0; i < count; ++i)
    element<std::complex<T>>(p[0] + i * s[0]) = {element<T>(p[1] + i * s[1]), element<T>(p[2] + i * s[2])};
}

Result<std::vector<ResultDesc>> inferPart(const StepContext &context) {
  INGOT_TRY(TensorDesc desc, inferElementwise(context, 1));
  const DType part = partOf(desc.dtype);
  if (part == desc.dtype)
    return badType(context, desc.dtype);
  return elementwiseResult(context, std::move(desc), part);
}

template <bool isImaginary>
Result<std::unique_ptr<BoundKernel>> bindPart(const StepContext &context, std::span<const TensorDesc> results) {
  const bool isSingle = results[0].dtype == DType::Float32;
  return makeRowKernel(context, results[0], isSingle ? &partRow<float, isImaginary> : &partRow<double, isImaginary>);
}

Result<std::vector<ResultDesc>> inferComplex(const StepContext &context) {
  INGOT_TRY(TensorDesc desc, inferElementwise(context, 2));
  const DType complex = complexOf(desc.dtype);
  if (complex == desc.dtype)
    return badType(context, desc.dtype);
  return elementwiseResult(context, std::move(desc), complex);
}

Result<std::unique_ptr<BoundKernel>> bindComplex(const StepContext &context, std::span<const TensorDesc> results) {
  const bool isSingle = results[0].dtype == DType::Complex64;
  return makeRowKernel(context, results[0], isSingle ? &complexRow<float> : &complexRow<double>);
}

template <typename T> void exponentRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  for (int64_t i = 0; i < count; ++i) {
    const auto x = scalar::cast<scalar::Compute<T>>(element<T>(p[1] + i * s[1]));
    element<int32_t>(p[0] + i * s[0]) = scalar::frexp_exponent(x);
  }
}

Result<RowFunction> exponentRowFor(const StepContext &context, DType dtype) {
  return dispatchType<FloatTypes>(context.step.kernel, dtype,
                                  []<typename T>() { return Result<RowFunction>(&exponentRow<T>); });
}

Result<std::vector<ResultDesc>> inferExponent(const StepContext &context) {
  INGOT_TRY(TensorDesc desc, inferElementwise(context, 1));
  INGOT_TRY(RowFunction row, exponentRowFor(context, desc.dtype));
  (void)row;
  return elementwiseResult(context, std::move(desc), DType::Int32);
}

Result<std::unique_ptr<BoundKernel>> bindExponent(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(RowFunction row, exponentRowFor(context, context.operands[0].desc.dtype));
  return makeRowKernel(context, results[0], row);
}

/// The neighbour of `a` towards `b` among the values of T itself, not of the type it is computed in.
template <typename T> T nextafter(T a, T b) {
  if constexpr (scalar::Float<T>) {
    return std::nextafter(a, b);
  } else {
    const auto x = static_cast<float>(a), y = static_cast<float>(b);
    if (x != x || y != y)
      return T(x + y);
    if (x == y)
      return b;
    if (x == 0)
      return T::fromBits(static_cast<uint16_t>(y > 0 ? 1 : 0x8001));
    const bool isAway = (x < y) == (x > 0); // from zero: the next bit pattern
    return T::fromBits(static_cast<uint16_t>(a.bits + (isAway ? 1 : -1)));
  }
}

template <typename T> void nextafterRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  for (int64_t i = 0; i < count; ++i)
    element<T>(p[0] + i * s[0]) = nextafter(element<T>(p[1] + i * s[1]), element<T>(p[2] + i * s[2]));
}

Result<RowFunction> nextafterRowFor(const StepContext &context, DType dtype) {
  return dispatchType<FloatTypes>(context.step.kernel, dtype,
                                  []<typename T>() { return Result<RowFunction>(&nextafterRow<T>); });
}

Result<std::vector<ResultDesc>> inferNextafter(const StepContext &context) {
  INGOT_TRY(TensorDesc desc, inferElementwise(context, 2));
  INGOT_TRY(RowFunction row, nextafterRowFor(context, desc.dtype));
  (void)row;
  const DType dtype = desc.dtype;
  return elementwiseResult(context, std::move(desc), dtype);
}

Result<std::unique_ptr<BoundKernel>> bindNextafter(const StepContext &context, std::span<const TensorDesc> results) {
  INGOT_TRY(RowFunction row, nextafterRowFor(context, results[0].dtype));
  return makeRowKernel(context, results[0], row);
}

} // namespace

extern const KernelDef kernelDef_real = {"real", inferPart, bindPart<false>, true};
extern const KernelDef kernelDef_imag = {"imag", inferPart, bindPart<true>, true};
extern const KernelDef kernelDef_complex = {"complex", inferComplex, bindComplex, true};
extern const KernelDef kernelDef_frexp_exponent = {"frexp_exponent", inferExponent, bindExponent, true};
extern const KernelDef kernelDef_nextafter = {"nextafter", inferNextafter, bindNextafter, true, 0b11};

#define SPECIAL_UNARY(op, kinds) INGOT_ELEMENTWISE(op, kinds, 1, false)
#define SPECIAL_TEST(op, kinds) INGOT_ELEMENTWISE(op, kinds, 1, true)
#define SPECIAL_BINARY(op, kinds) INGOT_ELEMENTWISE(op, kinds, 2, false)
#include "runtime/kernels/special/special_ops.inc"

} // namespace ingot
