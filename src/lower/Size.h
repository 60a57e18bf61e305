// Numbers that are known while converting, or values that the program computes.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <complex>
#include <cstdint>

namespace ingot::lower {

/// In list attributes: the entry is the next of the op's dynamic operands.
inline constexpr int64_t kDynamicEntry = mlir::ShapedType::kDynamic;

/// A size or a position: a literal, or an i64 value.
struct Size {
  int64_t literal = 0;
  mlir::Value dynamic;

  Size() = default;
  Size(int64_t literal) : literal(literal) {}
  Size(mlir::Value dynamic) : dynamic(dynamic) {}

  bool isStatic() const { return !dynamic; }
  bool is(int64_t number) const { return isStatic() && literal == number; }
  /// The entry of a type's shape or of a list attribute.
  int64_t entry() const { return isStatic() ? literal : kDynamicEntry; }
};

using Sizes = llvm::SmallVector<Size, 6>;

/// from, from + 1, … below `to`: dimensions of a tensor.
inline llvm::SmallVector<int64_t> axisRange(int64_t from, int64_t to) {
  return llvm::to_vector(llvm::seq<int64_t>(from, to));
}

/// A Python number: its category decides type promotion, its value is a literal or an SSA value
/// (i64, f64 or i1).
struct Number {
  enum Kind : uint8_t { Bool, Int, Float, Complex } kind = Int;
  int64_t integer = 0; ///< of Bool and Int
  double real = 0;     ///< of Float and Complex
  mlir::Value dynamic;
  double imaginary = 0; ///< of Complex

  static Number of(bool value) { return {Bool, value, 0, {}}; }
  static Number of(int64_t value) { return {Int, value, 0, {}}; }
  static Number of(double value) { return {Float, 0, value, {}}; }
  static Number of(mlir::Value value) {
    mlir::Type type = value.getType();
    return {type.isF64() ? Float : type.isInteger(1) ? Bool : Int, 0, 0, value};
  }
  static Number of(std::complex<double> value) { return {Complex, 0, value.real(), {}, value.imag()}; }
  static Number of(Size size) { return size.isStatic() ? of(size.literal) : of(size.dynamic); }

  bool isStatic() const { return !dynamic; }
  bool isInteger() const { return kind == Bool || kind == Int; }
  /// Without the imaginary part.
  double asDouble() const { return isInteger() ? static_cast<double>(integer) : real; }
  bool is(double value) const { return isStatic() && asDouble() == value && imaginary == 0; }
};

/// What the schema calls a Tensor or Scalar: programs pass numbers for either.
struct Operand {
  mlir::Value tensor; ///< null when it is a number
  Number number;

  Operand(mlir::Value tensor) : tensor(tensor) {}
  Operand(Number number) : number(number) {}
  bool isTensor() const { return static_cast<bool>(tensor); }
};

} // namespace ingot::lower
