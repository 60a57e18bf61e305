// Ops of two operands, and `select`.
#include "runtime/kernels/elementwise/Ref.h"

namespace ingot {
namespace {

/// Copies bits, so types of one width share a function.
template <typename T> void selectRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  for (int64_t i = 0; i < count; ++i) {
    const char *source = element<bool>(p[1] + i * s[1]) ? p[2] + i * s[2] : p[3] + i * s[3];
    element<T>(p[0] + i * s[0]) = *reinterpret_cast<const T *>(source);
  }
}

Result<std::vector<ResultDesc>> inferSelect(const StepContext &context) {
  INGOT_TRY(TensorDesc desc, inferElementwise(context, 3, 1));
  if (context.operands[0].desc.dtype != DType::Bool)
    return badStep(context, "the condition is not boolean");
  const DType dtype = desc.dtype;
  return elementwiseResult(context, std::move(desc), dtype);
}

Result<std::unique_ptr<BoundKernel>> bindSelect(const StepContext &context, std::span<const TensorDesc> results) {
  switch (byteSize(results[0].dtype)) {
  case 1:
    return makeRowKernel(context, results[0], &selectRow<uint8_t>);
  case 2:
    return makeRowKernel(context, results[0], &selectRow<uint16_t>);
  case 4:
    return makeRowKernel(context, results[0], &selectRow<uint32_t>);
  case 8:
    return makeRowKernel(context, results[0], &selectRow<uint64_t>);
  case 16:
    return makeRowKernel(context, results[0], &selectRow<std::complex<double>>);
  default:
    return badType(context, results[0].dtype);
  }
}

} // namespace

extern const KernelDef kernelDef_select = {"select", inferSelect, bindSelect, true, 0b110};

#define SCALAR_BINARY(op, kinds) INGOT_ELEMENTWISE(op, kinds, 2, false)
#define SCALAR_COMPARE(op, kinds) INGOT_ELEMENTWISE(op, kinds, 2, true)
#include "runtime/kernels/elementwise/scalar_ops.inc"

} // namespace ingot
