// Symbolic numbers: ops of the arith and math dialects on single numbers, computed while a plan is bound.
#include "base/Bytes.h"
#include "runtime/kernels/elementwise/Checks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ingot {
namespace {

using Numbers = std::span<const ScalarValue>;
using ScalarFunction = Result<ScalarValue> (*)(const StepContext &, Numbers);

template <ScalarFunction function> Result<std::vector<ResultDesc>> inferScalar(const StepContext &context) {
  std::vector<ScalarValue> numbers;
  for (const BoundOperand &operand : context.operands) {
    if (!operand.scalar)
      return badStep(context, "an operand is no number");
    numbers.push_back(*operand.scalar);
  }
  std::vector<ResultDesc> results(1);
  INGOT_TRY(results[0].scalar, function(context, numbers));
  return results;
}

/// The operands as values of one type; an error if there are more or fewer, or others.
template <typename T, size_t count> Result<std::array<T, count>> take(const StepContext &context, Numbers numbers) {
  std::array<T, count> values{};
  bool fits = numbers.size() == count;
  for (size_t i = 0; fits && i < count; ++i) {
    const T *value = std::get_if<T>(&numbers[i]);
    fits = value != nullptr;
    if (value)
      values[i] = *value;
  }
  if (!fits)
    return badStep(context, "the operands have the wrong number or type");
  return values;
}

template <int64_t (*fn)(int64_t, int64_t)> Result<ScalarValue> intBinary(const StepContext &context, Numbers numbers) {
  INGOT_TRY(auto values, (take<int64_t, 2>(context, numbers)));
  return ScalarValue(fn(values[0], values[1]));
}

template <double (*fn)(double, double)> Result<ScalarValue> floatBinary(const StepContext &context, Numbers numbers) {
  INGOT_TRY(auto values, (take<double, 2>(context, numbers)));
  return ScalarValue(fn(values[0], values[1]));
}

template <double (*fn)(double)> Result<ScalarValue> floatUnary(const StepContext &context, Numbers numbers) {
  INGOT_TRY(auto values, (take<double, 1>(context, numbers)));
  return ScalarValue(fn(values[0]));
}

/// Wraps around, as arith's integers do.
int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }
int64_t add(int64_t a, int64_t b) { return wrap(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t subtract(int64_t a, int64_t b) { return wrap(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
int64_t multiply(int64_t a, int64_t b) { return wrap(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
int64_t larger(int64_t a, int64_t b) { return std::max(a, b); }
int64_t smaller(int64_t a, int64_t b) { return std::min(a, b); }
int64_t shiftLeft(int64_t a, int64_t b) { return b < 0 || b > 63 ? 0 : wrap(static_cast<uint64_t>(a) << b); }
int64_t shiftRight(int64_t a, int64_t b) { return a >> std::clamp<int64_t>(b, 0, 63); }

int64_t divide(int64_t a, int64_t b) { return b == -1 ? subtract(0, a) : a / b; }
int64_t divideDown(int64_t a, int64_t b) { return divide(a, b) - (b != -1 && a % b != 0 && (a < 0) != (b < 0)); }
int64_t divideUp(int64_t a, int64_t b) { return divide(a, b) + (b != -1 && a % b != 0 && (a < 0) == (b < 0)); }
int64_t remainder(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

template <int64_t (*fn)(int64_t, int64_t)>
Result<ScalarValue> intDivision(const StepContext &context, Numbers numbers) {
  INGOT_TRY(auto values, (take<int64_t, 2>(context, numbers)));
  if (values[1] == 0)
    return usageError("a size computed from the inputs divides by zero");
  return ScalarValue(fn(values[0], values[1]));
}

double addFloat(double a, double b) { return a + b; }
double subtractFloat(double a, double b) { return a - b; }
double multiplyFloat(double a, double b) { return a * b; }
double divideFloat(double a, double b) { return a / b; }
double negateFloat(double a) { return -a; }
double maximumFloat(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimumFloat(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double power(double a, double b) { return std::pow(a, b); }
double modulo(double a, double b) { return std::fmod(a, b); }
double roundEven(double a) { return std::nearbyint(a); }

int64_t intPower(int64_t a, int64_t b) {
  if (b < 0)
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; b > 0; b >>= 1, a = multiply(a, a))
    if (b & 1)
      result = multiply(result, a);
  return result;
}

Result<ScalarValue> intAbsolute(const StepContext &context, Numbers numbers) {
  INGOT_TRY(auto values, (take<int64_t, 1>(context, numbers)));
  return ScalarValue(values[0] < 0 ? subtract(0, values[0]) : values[0]);
}

enum class Bits { And, Or, Xor };

template <Bits bits> Result<ScalarValue> bitwise(const StepContext &context, Numbers numbers) {
  auto combine = [](int64_t a, int64_t b) { return bits == Bits::And ? a & b : bits == Bits::Or ? a | b : a ^ b; };
  if (!numbers.empty() && std::holds_alternative<bool>(numbers[0])) {
    INGOT_TRY(auto values, (take<bool, 2>(context, numbers)));
    return ScalarValue(combine(values[0], values[1]) != 0);
  }
  INGOT_TRY(auto values, (take<int64_t, 2>(context, numbers)));
  return ScalarValue(combine(values[0], values[1]));
}

/// A predicate as keyword or as MLIR's number of it.
Result<size_t> predicate(const StepContext &context, std::span<const std::string_view> keywords) {
  auto it = context.step.attributes.find("predicate");
  if (it != context.step.attributes.end())
    if (const int64_t *number = std::get_if<int64_t>(&it->second))
      if (*number >= 0 && static_cast<size_t>(*number) < keywords.size())
        return static_cast<size_t>(*number);
  return keywordAttr(context, "predicate", keywords);
}

Result<ScalarValue> compareInts(const StepContext &context, Numbers numbers) {
  static constexpr std::array<std::string_view, 10> kKeywords = {"eq",  "ne",  "slt", "sle", "sgt",
                                                                 "sge", "ult", "ule", "ugt", "uge"};
  INGOT_TRY(size_t which, predicate(context, kKeywords));
  int64_t a = 0;
  int64_t b = 0;
  if (!numbers.empty() && std::holds_alternative<bool>(numbers[0])) {
    INGOT_TRY(auto flags, (take<bool, 2>(context, numbers)));
    // A signed i1 that is true is -1.
    a = -static_cast<int64_t>(flags[0]);
    b = -static_cast<int64_t>(flags[1]);
  } else {
    INGOT_TRY(auto values, (take<int64_t, 2>(context, numbers)));
    a = values[0];
    b = values[1];
  }
  auto ua = static_cast<uint64_t>(a);
  auto ub = static_cast<uint64_t>(b);
  bool outcomes[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, ua<ub, ua <= ub, ua> ub, ua >= ub};
  return ScalarValue(outcomes[which]);
}

Result<ScalarValue> compareFloats(const StepContext &context, Numbers numbers) {
  static constexpr std::array<std::string_view, 16> kKeywords = {"false", "oeq", "ogt", "oge", "olt", "ole",
                                                                 "one",   "ord", "ueq", "ugt", "uge", "ult",
                                                                 "ule",   "une", "uno", "true"};
  INGOT_TRY(size_t which, predicate(context, kKeywords));
  INGOT_TRY(auto values, (take<double, 2>(context, numbers)));
  double a = values[0];
  double b = values[1];
  bool isUnordered = std::isnan(a) || std::isnan(b);
  bool ordered[] = {false, a == b, a > b, a >= b, a < b, a <= b, a != b, true};
  if (which < 8)
    return ScalarValue(!isUnordered && ordered[which]);
  bool unordered[] = {a == b, a > b, a >= b, a < b, a <= b, a != b, false, true};
  return ScalarValue(isUnordered || unordered[which - 8]);
}

Result<ScalarValue> choose(const StepContext &context, Numbers numbers) {
  if (numbers.size() != 3 || !std::holds_alternative<bool>(numbers[0]))
    return badStep(context, "the operands have the wrong number or type");
  return std::get<bool>(numbers[0]) ? numbers[1] : numbers[2];
}

Result<ScalarValue> toFloat(const StepContext &context, Numbers numbers) {
  if (numbers.size() == 1 && std::holds_alternative<bool>(numbers[0])) {
    double one = context.step.kernel == "arith.sitofp" ? -1.0 : 1.0;
    return ScalarValue(std::get<bool>(numbers[0]) ? one : 0.0);
  }
  INGOT_TRY(auto values, (take<int64_t, 1>(context, numbers)));
  return ScalarValue(static_cast<double>(values[0]));
}

Result<ScalarValue> toInt(const StepContext &context, Numbers numbers) {
  INGOT_TRY(auto values, (take<double, 1>(context, numbers)));
  if (!(values[0] >= -0x1p63 && values[0] < 0x1p63))
    return usageError("a number computed from the inputs does not fit 64 bits");
  return ScalarValue(static_cast<int64_t>(values[0]));
}

template <bool isSigned> Result<ScalarValue> widen(const StepContext &context, Numbers numbers) {
  INGOT_TRY(auto values, (take<bool, 1>(context, numbers)));
  return ScalarValue(static_cast<int64_t>(values[0]) * (isSigned ? -1 : 1));
}

Result<ScalarValue> narrow(const StepContext &context, Numbers numbers) {
  INGOT_TRY(auto values, (take<int64_t, 1>(context, numbers)));
  return ScalarValue((values[0] & 1) != 0);
}

Result<ScalarValue> same(const StepContext &context, Numbers numbers) {
  INGOT_TRY(auto values, (take<int64_t, 1>(context, numbers)));
  return ScalarValue(values[0]);
}

Result<ScalarValue> constant(const StepContext &context, Numbers) {
  auto it = context.step.attributes.find("value");
  if (it != context.step.attributes.end()) {
    if (const auto *number = std::get_if<int64_t>(&it->second))
      return ScalarValue(*number);
    if (const auto *number = std::get_if<double>(&it->second))
      return ScalarValue(*number);
    if (const auto *flag = std::get_if<bool>(&it->second))
      return ScalarValue(*flag);
  }
  return badStep(context, "attribute 'value' is no number");
}

} // namespace

#define SCALAR_KERNEL(dialect, op, ...)                                                                                \
  extern const KernelDef kernelDef_##dialect##_##op;                                                                   \
  const KernelDef kernelDef_##dialect##_##op = {#dialect "." #op, inferScalar<__VA_ARGS__>, nullptr, true};

SCALAR_KERNEL(arith, constant, constant)
SCALAR_KERNEL(arith, addi, intBinary<add>)
SCALAR_KERNEL(arith, subi, intBinary<subtract>)
SCALAR_KERNEL(arith, muli, intBinary<multiply>)
SCALAR_KERNEL(arith, divsi, intDivision<divide>)
SCALAR_KERNEL(arith, floordivsi, intDivision<divideDown>)
SCALAR_KERNEL(arith, ceildivsi, intDivision<divideUp>)
SCALAR_KERNEL(arith, remsi, intDivision<remainder>)
SCALAR_KERNEL(arith, maxsi, intBinary<larger>)
SCALAR_KERNEL(arith, minsi, intBinary<smaller>)
SCALAR_KERNEL(arith, andi, bitwise<Bits::And>)
SCALAR_KERNEL(arith, ori, bitwise<Bits::Or>)
SCALAR_KERNEL(arith, xori, bitwise<Bits::Xor>)
SCALAR_KERNEL(arith, shli, intBinary<shiftLeft>)
SCALAR_KERNEL(arith, shrsi, intBinary<shiftRight>)
SCALAR_KERNEL(arith, addf, floatBinary<addFloat>)
SCALAR_KERNEL(arith, subf, floatBinary<subtractFloat>)
SCALAR_KERNEL(arith, mulf, floatBinary<multiplyFloat>)
SCALAR_KERNEL(arith, divf, floatBinary<divideFloat>)
SCALAR_KERNEL(arith, remf, floatBinary<modulo>)
SCALAR_KERNEL(arith, negf, floatUnary<negateFloat>)
SCALAR_KERNEL(arith, maximumf, floatBinary<maximumFloat>)
SCALAR_KERNEL(arith, minimumf, floatBinary<minimumFloat>)
SCALAR_KERNEL(arith, cmpi, compareInts)
SCALAR_KERNEL(arith, cmpf, compareFloats)
SCALAR_KERNEL(arith, select, choose)
SCALAR_KERNEL(arith, sitofp, toFloat)
SCALAR_KERNEL(arith, uitofp, toFloat)
SCALAR_KERNEL(arith, fptosi, toInt)
SCALAR_KERNEL(arith, extui, widen<false>)
SCALAR_KERNEL(arith, extsi, widen<true>)
SCALAR_KERNEL(arith, trunci, narrow)
SCALAR_KERNEL(arith, index_cast, same)
SCALAR_KERNEL(math, floor, floatUnary<std::floor>)
SCALAR_KERNEL(math, ceil, floatUnary<std::ceil>)
SCALAR_KERNEL(math, trunc, floatUnary<std::trunc>)
SCALAR_KERNEL(math, roundeven, floatUnary<roundEven>)
SCALAR_KERNEL(math, sqrt, floatUnary<std::sqrt>)
SCALAR_KERNEL(math, absf, floatUnary<std::fabs>)
SCALAR_KERNEL(math, absi, intAbsolute)
SCALAR_KERNEL(math, powf, floatBinary<power>)
SCALAR_KERNEL(math, ipowi, intBinary<intPower>)
SCALAR_KERNEL(math, exp, floatUnary<std::exp>)
SCALAR_KERNEL(math, log, floatUnary<std::log>)
SCALAR_KERNEL(math, log2, floatUnary<std::log2>)

} // namespace ingot
