#include "runtime/Symbols.h"

#include "base/Bytes.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace ingot {
namespace {

using Number = std::optional<int64_t>;

Number floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

Number floorModulo(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  int64_t rest = a % b; // not a - b * quotient, whose product can be too small for 64 bits
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Number subtract(int64_t a, int64_t b) {
  int64_t difference;
  return __builtin_sub_overflow(a, b, &difference) ? std::nullopt : Number(difference);
}

Number power(int64_t base, int64_t exponent) {
  Number result = 1;
  // 2^63 does not fit any more, so that only -1, 0 and 1 have long powers; sizes never do.
  if (exponent < 0 || exponent > 63)
    return std::nullopt;
  for (int64_t i = 0; result && i < exponent; ++i)
    result = checkedMul(*result, base);
  return result;
}

bool isNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

/// Recursive descent; every function leaves `at` behind what it read, or returns nothing.
class Parser {
public:
  Parser(std::string_view text, const SymbolValues &symbols) : text(text), symbols(symbols) {}

  Number parse() {
    Number value = sum();
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

  Number sum() {
    if (++depth > kMaxDepth)
      return std::nullopt;
    Number left = product();
    while (left) {
      bool isPlus = eat("+");
      if (!isPlus && !eat("-"))
        break;
      Number right = product();
      if (!right)
        return std::nullopt;
      left = isPlus ? checkedAdd(*left, *right) : subtract(*left, *right);
    }
    --depth;
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
      if (isExact && (*right == 0 || floorModulo(*left, *right) != 0))
        return std::nullopt;
      if (isFloor || isExact)
        left = floorDivide(*left, *right);
      else
        left = isModulo ? floorModulo(*left, *right) : checkedMul(*left, *right);
    }
    return left;
  }

  Number factor() {
    if (++depth > kMaxDepth)
      return std::nullopt;
    Number value;
    if (eat("-")) {
      value = factor();
      value = value ? subtract(0, *value) : value;
    } else {
      value = atom();
      if (value && eat("**")) {
        Number exponent = factor();
        value = exponent ? power(*value, *exponent) : exponent;
      }
    }
    --depth;
    return value;
  }

  Number atom() {
    if (eat("(")) {
      Number value = sum();
      return eat(")") ? value : std::nullopt;
    }
    skipBlanks();
    size_t begin = at;
    if (at < text.size() && isNameStart(text[at])) {
      while (at < text.size() && isNamePart(text[at]))
        ++at;
      return nameOrCall(text.substr(begin, at - begin));
    }
    int64_t value = 0;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at) {
      Number shifted = checkedMul<int64_t>(value, 10);
      Number next = shifted ? checkedAdd<int64_t>(*shifted, text[at] - '0') : shifted;
      if (!next)
        return std::nullopt;
      value = *next;
    }
    return at > begin ? Number(value) : std::nullopt;
  }

  Number nameOrCall(std::string_view name) {
    if (!eat("(")) {
      auto it = symbols.find(name);
      return it == symbols.end() ? std::nullopt : Number(it->second);
    }
    std::vector<int64_t> arguments;
    do {
      Number argument = sum();
      if (!argument)
        return std::nullopt;
      arguments.push_back(*argument);
    } while (eat(","));
    return eat(")") ? call(name, arguments) : std::nullopt;
  }

  static Number call(std::string_view name, const std::vector<int64_t> &arguments) {
    if (name == "Max")
      return *std::ranges::max_element(arguments);
    if (name == "Min")
      return *std::ranges::min_element(arguments);
    if (arguments.size() != 2)
      return std::nullopt;
    if (name == "Mod" || name == "PythonMod")
      return floorModulo(arguments[0], arguments[1]);
    if (name == "FloorDiv" || name == "CleanDiv")
      return floorDivide(arguments[0], arguments[1]);
    if (name == "CeilDiv") {
      Number quotient = floorDivide(arguments[0], arguments[1]);
      Number rest = floorModulo(arguments[0], arguments[1]);
      return quotient ? Number(*quotient + (*rest != 0)) : quotient;
    }
    return std::nullopt;
  }

  std::string_view text;
  const SymbolValues &symbols;
  size_t at = 0;
  int depth = 0;
};

} // namespace

std::optional<int64_t> evaluate(std::string_view expression, const SymbolValues &symbols) {
  return Parser(expression, symbols).parse();
}

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
    if (next == std::string_view::npos || expression[next] != '(')
      names.emplace(expression.substr(begin, i - begin));
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
  Number slope = subtract(*one, *zero);
  Number distance = subtract(value, *zero);
  if (!slope || !distance || subtract(*two, *one) != slope)
    return std::nullopt;
  Number solution = floorDivide(*distance, *slope);
  return solution && at(*solution) == value ? solution : std::nullopt;
}

} // namespace ingot
