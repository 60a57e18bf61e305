// The scalar functions under names that generated code can call: ingot_s_<op>_<type>. This file is
// compiled to LLVM bitcode; code generation links it into its modules and inlines what it uses.
#include "runtime/kernels/elementwise/Scalar.h"

namespace {

using namespace ingot; // NOLINT(google-build-using-namespace): the file is nothing but exports

// How a type crosses the boundary: bool as a byte of 0 or 1, 16-bit floats as their bits.
template <typename T> struct Wire {
  using Type = T;
  static T in(T x) { return x; }
  static T out(T x) { return x; }
};
template <> struct Wire<bool> {
  using Type = uint8_t;
  static bool in(uint8_t x) { return x != 0; }
  static uint8_t out(bool x) { return x; }
};
template <typename T> struct SmallWire {
  using Type = uint16_t;
  static T in(uint16_t x) { return T::fromBits(x); }
  static uint16_t out(T x) { return x.bits; }
};
template <> struct Wire<Half> : SmallWire<Half> {};
template <> struct Wire<BFloat16> : SmallWire<BFloat16> {};

template <typename T> using W = typename Wire<T>::Type;

} // namespace

#define EXPORT extern "C" __attribute__((always_inline, visibility("default")))

#define UNARY(op, suffix, T)                                                                                           \
  EXPORT W<T> ingot_s_##op##_##suffix(W<T> x) {                                                                        \
    return Wire<T>::out(scalar::lift([](auto v) { return scalar::op(v); }, Wire<T>::in(x)));                           \
  }
#define BINARY(op, suffix, T)                                                                                          \
  EXPORT W<T> ingot_s_##op##_##suffix(W<T> a, W<T> b) {                                                                \
    return Wire<T>::out(                                                                                               \
        scalar::lift([](auto v, auto w) { return scalar::op(v, w); }, Wire<T>::in(a), Wire<T>::in(b)));                \
  }
#define TEST(op, suffix, T)                                                                                            \
  EXPORT uint8_t ingot_s_##op##_##suffix(W<T> x) {                                                                     \
    return scalar::op(scalar::cast<scalar::Compute<T>>(Wire<T>::in(x)));                                               \
  }
#define COMPARE(op, suffix, T)                                                                                         \
  EXPORT uint8_t ingot_s_##op##_##suffix(W<T> a, W<T> b) {                                                             \
    using C = scalar::Compute<T>;                                                                                      \
    return scalar::op(scalar::cast<C>(Wire<T>::in(a)), scalar::cast<C>(Wire<T>::in(b)));                               \
  }
#define SELECT(op, suffix, T)                                                                                          \
  EXPORT W<T> ingot_s_select_##suffix(uint8_t condition, W<T> a, W<T> b) {                                             \
    return scalar::select(condition != 0, a, b);                                                                       \
  }

#define FLOATS(X, op) X(op, f16, Half) X(op, bf16, BFloat16) X(op, f32, float) X(op, f64, double)
#define INTEGERS_ONLY(X, op)                                                                                           \
  X(op, i8, int8_t)                                                                                                    \
  X(op, i16, int16_t)                                                                                                  \
  X(op, i32, int32_t)                                                                                                  \
  X(op, i64, int64_t)                                                                                                  \
  X(op, u8, uint8_t)                                                                                                   \
  X(op, u16, uint16_t)                                                                                                 \
  X(op, u32, uint32_t)                                                                                                 \
  X(op, u64, uint64_t)
#define INTEGERS(X, op) INTEGERS_ONLY(X, op) X(op, b, bool)
#define NUMBERS(X, op) FLOATS(X, op) INTEGERS_ONLY(X, op)
#define ALL(X, op) FLOATS(X, op) INTEGERS(X, op)
// Complex numbers are left to the reference kernels.
#define FLOATS_C FLOATS
#define NUMBERS_C NUMBERS
#define ALL_C ALL

#define SCALAR_UNARY(op, kinds) kinds(UNARY, op)
#define SCALAR_BINARY(op, kinds) kinds(BINARY, op)
#define SCALAR_TEST(op, kinds) kinds(TEST, op)
#define SCALAR_COMPARE(op, kinds) kinds(COMPARE, op)
#include "runtime/kernels/elementwise/scalar_ops.inc"
ALL(SELECT, select)

#define CAST(to, suffix, T)                                                                                            \
  EXPORT W<CastTo> ingot_s_cast_##suffix##_##to(W<T> x) {                                                              \
    return Wire<CastTo>::out(scalar::cast<CastTo>(Wire<T>::in(x)));                                                    \
  }

#define CASTS_TO(to, Type)                                                                                             \
  namespace to_##to {                                                                                                  \
    using CastTo = Type;                                                                                               \
    ALL(CAST, to)                                                                                                      \
  }
CASTS_TO(f16, Half)
CASTS_TO(bf16, BFloat16)
CASTS_TO(f32, float)
CASTS_TO(f64, double)
CASTS_TO(i8, int8_t)
CASTS_TO(i16, int16_t)
CASTS_TO(i32, int32_t)
CASTS_TO(i64, int64_t)
CASTS_TO(u8, uint8_t)
CASTS_TO(u16, uint16_t)
CASTS_TO(u32, uint32_t)
CASTS_TO(u64, uint64_t)
CASTS_TO(b, bool)
