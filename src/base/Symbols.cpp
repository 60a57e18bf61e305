#include "base/Symbols.h"

#include "base/Bytes.h"
#include "base/Condition.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <compare>
#include <vector>

namespace ingot {
namespace {

template <typename T> using Maybe = std::optional<T>;
using Number = Maybe<int64_t>;

/// What an expression is computed with: whole numbers, which must fit, or real ones.
struct Integers {
  using Type = int64_t;

  static Number add(int64_t a, int64_t b) { return checkedAdd(a, b); }
  static Number multiply(int64_t a, int64_t b) { return checkedMul(a, b); }
  static Number subtract(int64_t a, int64_t b) {
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? std::nullopt : Number(difference);
  }
  static Number floorDivide(int64_t a, int64_t b) {
    if (b == 0 || (a == INT64_MIN && b == -1))
      return std::nullopt;
    int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
  }
  static Number modulo(int64_t a, int64_t b) {
    if (b == 0 || (a == INT64_MIN && b == -1))
      return std::nullopt;
    int64_t rest = a % b; // not a - b * quotient, whose product can be too small for 64 bits
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  static Number divide(int64_t a, int64_t b) { return modulo(a, b) == 0 ? floorDivide(a, b) : std::nullopt; }
  static Number bitAnd(int64_t a, int64_t b) { return a & b; }
  static Number power(int64_t base, int64_t exponent) {
    Number result = 1;
    // 2^63 does not fit any more, so that only -1, 0 and 1 have long powers; sizes never do.
    if (exponent < 0 || exponent > 63)
      return std::nullopt;
    for (int64_t i = 0; result && i < exponent; ++i)
      result = checkedMul(*result, base);
    return result;
  }
  static Number round(std::string_view, int64_t value) { return value; }
};

struct Reals {
  using Type = double;

  static Maybe<double> add(double a, double b) { return a + b; }
  static Maybe<double> multiply(double a, double b) { return a * b; }
  static Maybe<double> subtract(double a, double b) { return a - b; }
  static Maybe<double> divide(double a, double b) { return b == 0 ? std::nullopt : Maybe<double>(a / b); }
  static Maybe<double> floorDivide(double a, double b) {
    return b == 0 ? std::nullopt : Maybe<double>(std::floor(a / b));
  }
  static Maybe<double> modulo(double a, double b) {
    return b == 0 ? std::nullopt : Maybe<double>(a - b * std::floor(a / b));
  }
  static Maybe<double> bitAnd(double, double) { return std::nullopt; }
  static Maybe<double> power(double base, double exponent) { return std::pow(base, exponent); }
  static Maybe<double> round(std::string_view name, double value) {
    return name == "trunc" ? std::trunc(value) : name == "ceil" ? std::ceil(value) : std::floor(value);
  }
};

bool isNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

/// Recursive descent; every function leaves `at` behind what it read, or returns nothing.
template <typename Arithmetic> class Parser {
  using Type = typename Arithmetic::Type;
  using Number = Maybe<Type>;

public:
  Parser(std::string_view text, const SymbolValues &symbols) : text(text), symbols(symbols) {}

  Number parse() {
    Number value = bits();
    skipBlanks();
    return at == text.size() ? value : std::nullopt;
  }

private:
  static constexpr int kMaxDepth = 64;

  void skipBlanks() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }

  bool eat(std::string_view token) {
    skipBlanks();
    if (!text.substr(at).starts_with(token))
      return false;
    at += token.size();
    return true;
  }

  Number bits() {
    if (++depth > kMaxDepth)
      return std::nullopt;
    Number left = sum();
    while (left && eat("&")) {
      Number right = sum();
      left = right ? Arithmetic::bitAnd(*left, *right) : std::nullopt;
    }
    --depth;
    return left;
  }

  Number sum() {
    Number left = product();
    while (left) {
      bool isPlus = eat("+");
      if (!isPlus && !eat("-"))
        break;
      Number right = product();
      if (!right)
        return std::nullopt;
      left = isPlus ? Arithmetic::add(*left, *right) : Arithmetic::subtract(*left, *right);
    }
    return left;
  }

  Number product() {
    Number left = factor();
    while (left) {
      bool isFloor = eat("//");
      bool isExact = !isFloor && eat("/");
      bool isModulo = !isFloor && !isExact && eat("%");
      if (!isFloor && !isExact && !isModulo && !eat("*"))
        break;
      Number right = factor();
      if (!right)
        return std::nullopt;
      if (isFloor || isExact)
        left = isExact ? Arithmetic::divide(*left, *right) : Arithmetic::floorDivide(*left, *right);
      else
        left = isModulo ? Arithmetic::modulo(*left, *right) : Arithmetic::multiply(*left, *right);
    }
    return left;
  }

  Number factor() {
    if (++depth > kMaxDepth)
      return std::nullopt;
    Number value;
    if (eat("-")) {
      value = factor();
      value = value ? Arithmetic::subtract(0, *value) : value;
    } else {
      value = atom();
      if (value && eat("**")) {
        Number exponent = factor();
        value = exponent ? Arithmetic::power(*value, *exponent) : exponent;
      }
    }
    --depth;
    return value;
  }

  Number atom() {
    if (eat("(")) {
      Number value = bits();
      return eat(")") ? value : std::nullopt;
    }
    skipBlanks();
    size_t begin = at;
    if (at < text.size() && isNameStart(text[at])) {
      while (at < text.size() && isNamePart(text[at]))
        ++at;
      return nameOrCall(text.substr(begin, at - begin));
    }
    Type value = 0;
    auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc() || text[at] == '-')
      return std::nullopt;
    at = static_cast<size_t>(end - text.data());
    return value;
  }

  Number nameOrCall(std::string_view name) {
    if (!eat("(")) {
      auto it = symbols.find(name);
      return it == symbols.end() ? std::nullopt : Number(static_cast<Type>(it->second));
    }
    std::vector<Type> arguments;
    do {
      Number argument = bits();
      if (!argument)
        return std::nullopt;
      arguments.push_back(*argument);
    } while (eat(","));
    for (std::string_view scope : {"math.", "torch."})
      if (name.starts_with(scope))
        name.remove_prefix(scope.size());
    return eat(")") ? call(name, arguments) : std::nullopt;
  }

  static Number call(std::string_view name, const std::vector<Type> &arguments) {
    if (name == "Max" || name == "max" || name == "sym_max")
      return *std::ranges::max_element(arguments);
    if (name == "Min" || name == "min" || name == "sym_min")
      return *std::ranges::min_element(arguments);
    if (arguments.size() == 1 && (name == "trunc" || name == "ceil" || name == "floor"))
      return Arithmetic::round(name, arguments[0]);
    if (arguments.size() == 1 && (name == "sym_float" || name == "ToFloat"))
      return arguments[0];
    if (arguments.size() != 2)
      return std::nullopt;
    if (name == "Mod" || name == "PythonMod")
      return Arithmetic::modulo(arguments[0], arguments[1]);
    if (name == "FloorDiv" || name == "CleanDiv")
      return Arithmetic::floorDivide(arguments[0], arguments[1]);
    if (name == "CeilDiv") {
      Number quotient = Arithmetic::floorDivide(arguments[0], arguments[1]);
      Number rest = Arithmetic::modulo(arguments[0], arguments[1]);
      return quotient ? Number(*quotient + (*rest != 0)) : quotient;
    }
    return std::nullopt;
  }

  std::string_view text;
  const SymbolValues &symbols;
  size_t at = 0;
  int depth = 0;
};

template <typename Arithmetic> Number compare(const Comparison &text, const SymbolValues &symbols) {
  auto left = Parser<Arithmetic>(text.left, symbols).parse(), right = Parser<Arithmetic>(text.right, symbols).parse();
  if (!left || !right)
    return std::nullopt;
  const auto order = *left <=> *right;
  const bool isEqual = order == 0, isLess = order < 0;
  switch (text.sign.front()) {
  case '=':
    return isEqual;
  case '!':
    return !isEqual;
  case '<':
    return isLess || (isEqual && text.sign.size() == 2);
  default:
    return !isLess && (!isEqual || text.sign.size() == 2);
  }
}

/// Conditions inside of conditions.
constexpr int kMaxNesting = 32;

/// True if one of the parts is (`or`), or all are (`and`); nothing if a part is no condition.
Number combined(const std::vector<std::string_view> &parts, bool isOr, const SymbolValues &symbols, int nesting);

Number evaluateNested(std::string_view expression, const SymbolValues &symbols, int nesting) {
  if (nesting > kMaxNesting)
    return std::nullopt;
  expression = withoutBrackets(expression);
  for (std::string_view word : {kOr, kAnd})
    if (std::vector<std::string_view> parts = splitOutside(expression, word); parts.size() > 1)
      return combined(parts, word == kOr, symbols, nesting);
  const std::optional<Comparison> comparison = comparisonIn(expression);
  if (!comparison)
    return Parser<Integers>(expression, symbols).parse();
  const Number whole = compare<Integers>(*comparison, symbols);
  return whole ? whole : compare<Reals>(*comparison, symbols);
}

Number combined(const std::vector<std::string_view> &parts, bool isOr, const SymbolValues &symbols, int nesting) {
  bool result = !isOr;
  for (std::string_view part : parts) {
    const Number value = evaluateNested(part, symbols, nesting + 1);
    if (!value)
      return std::nullopt;
    result = isOr ? result || *value != 0 : result && *value != 0;
  }
  return result;
}

} // namespace

std::optional<int64_t> evaluate(std::string_view expression, const SymbolValues &symbols) {
  return isCondition(expression) ? evaluateNested(expression, symbols, 0)
                                 : Parser<Integers>(expression, symbols).parse();
}

std::optional<double> evaluateReal(std::string_view expression, const SymbolValues &symbols) {
  return Parser<Reals>(expression, symbols).parse();
}

bool isCondition(std::string_view expression) { return expression.find_first_of("<>=!") != std::string_view::npos; }

std::set<std::string, std::less<>> symbolsIn(std::string_view expression) {
  std::set<std::string, std::less<>> names;
  for (size_t i = 0; i < expression.size();) {
    if (!isNameStart(expression[i])) {
      i += 1;
      continue;
    }
    size_t begin = i;
    while (i < expression.size() && isNamePart(expression[i]))
      ++i;
    size_t next = expression.find_first_not_of(" \t", i);
    const std::string_view name = expression.substr(begin, i - begin);
    if (name != "or" && name != "and" && (next == std::string_view::npos || expression[next] != '('))
      names.emplace(name);
  }
  return names;
}

std::optional<int64_t> solveFor(std::string_view expression, std::string_view symbol, int64_t value,
                                SymbolValues symbols) {
  auto at = [&](int64_t x) {
    symbols.insert_or_assign(std::string(symbol), x);
    return evaluate(expression, symbols);
  };
  Number zero = at(0);
  Number one = at(1);
  Number two = at(2);
  if (!zero || !one || !two || *one == *zero)
    return std::nullopt;
  Number slope = Integers::subtract(*one, *zero);
  Number distance = Integers::subtract(value, *zero);
  if (!slope || !distance || Integers::subtract(*two, *one) != slope)
    return std::nullopt;
  Number solution = Integers::floorDivide(*distance, *slope);
  return solution && at(*solution) == value ? solution : std::nullopt;
}

} // namespace ingot
