// Reference kernels of element-wise ops: one loop for any strides and types.
#pragma once

#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Complex.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/kernels/elementwise/Strided.h"

namespace ingot {

/// Computes `count` elements: pointers and byte strides of the result, then of the operands.
using RowFunction = void (*)(int64_t count, const StridedLoop::Pointers &, const StridedLoop::Strides &);

/// The kernel that runs `row` over operands broadcast to the result.
std::unique_ptr<BoundKernel> makeRowKernel(const StepContext &context, const TensorDesc &result, RowFunction row);

/// Broadcasts `count` operands. Those from `firstTyped` on must have one type, which is returned with the
/// result's layout: that of the first operand that is not broadcast.
Result<TensorDesc> inferElementwise(const StepContext &context, size_t count, size_t firstTyped = 0);

/// The result of `desc`'s shape with the type the plan gives it, which must be `expected`.
Result<std::vector<ResultDesc>> elementwiseResult(const StepContext &context, TensorDesc desc, DType expected);

namespace kinds {
inline constexpr unsigned FLOATS = FloatTypes | Float8Types;
inline constexpr unsigned INTEGERS = BoolType | IntTypes;
inline constexpr unsigned NUMBERS = IntTypes | FLOATS;
inline constexpr unsigned ALL = BoolType | NUMBERS;
inline constexpr unsigned FLOATS_C = FLOATS | ComplexTypes;
inline constexpr unsigned NUMBERS_C = NUMBERS | ComplexTypes;
inline constexpr unsigned ALL_C = ALL | ComplexTypes;
} // namespace kinds

template <typename T> T &element(char *p) { return *reinterpret_cast<T *>(p); }

/// Rows of an op from its scalar function. `Out` is T or bool.
template <typename Op, typename T, typename Out>
void unaryRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  for (int64_t i = 0; i < count; ++i) {
    const auto x = scalar::cast<scalar::Compute<T>>(element<T>(p[1] + i * s[1]));
    element<Out>(p[0] + i * s[0]) = scalar::cast<Out>(Op::apply(x));
  }
}

template <typename Op, typename T, typename Out>
void binaryRow(int64_t count, const StridedLoop::Pointers &p, const StridedLoop::Strides &s) {
  using C = scalar::Compute<T>;
  for (int64_t i = 0; i < count; ++i) {
    const C a = scalar::cast<C>(element<T>(p[1] + i * s[1]));
    const C b = scalar::cast<C>(element<T>(p[2] + i * s[2]));
    element<Out>(p[0] + i * s[0]) = scalar::cast<Out>(Op::apply(a, b));
  }
}

/// An op with `arity` operands of one type; a predicate's result is bool.
template <typename Op> struct ElementwiseKernel {
  static Result<std::vector<ResultDesc>> infer(const StepContext &context) {
    INGOT_TRY(TensorDesc desc, inferElementwise(context, Op::arity));
    INGOT_TRY(RowFunction row, rowFor(context, desc.dtype));
    (void)row;
    const DType expected = Op::isPredicate ? DType::Bool : desc.dtype;
    return elementwiseResult(context, std::move(desc), expected);
  }

  static Result<std::unique_ptr<BoundKernel>> bind(const StepContext &context, std::span<const TensorDesc> results) {
    INGOT_TRY(RowFunction row, rowFor(context, context.operands[0].desc.dtype));
    return makeRowKernel(context, results[0], row);
  }

  static Result<RowFunction> rowFor(const StepContext &context, DType dtype) {
    return dispatchType<Op::types>(context.step.kernel, dtype, []<typename T>() {
      using Out = std::conditional_t<Op::isPredicate, bool, T>;
      if constexpr (Op::arity == 1)
        return Result<RowFunction>(&unaryRow<Op, T, Out>);
      else
        return Result<RowFunction>(&binaryRow<Op, T, Out>);
    });
  }
};

#define INGOT_ELEMENTWISE(op, kinds_, arity_, isPredicate_)                                                            \
  namespace {                                                                                                          \
  struct Op_##op {                                                                                                     \
    static constexpr size_t arity = arity_;                                                                            \
    static constexpr unsigned types = kinds::kinds_;                                                                   \
    static constexpr bool isPredicate = isPredicate_;                                                                  \
    static auto apply(auto... x) { return scalar::op(x...); }                                                          \
  };                                                                                                                   \
  }                                                                                                                    \
  extern const KernelDef kernelDef_##op = {#op, ElementwiseKernel<Op_##op>::infer, ElementwiseKernel<Op_##op>::bind,   \
                                           true, (1u << arity_) - 1};

} // namespace ingot
