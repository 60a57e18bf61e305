#include "pt2/SymExpr.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <unordered_map>

using namespace ingot;
using namespace ingot::pt2;

namespace {

constexpr size_t maxDepth = 200;

struct OpRow {
  SymOp op;
  std::string_view name;
  int fewest, most;
};

constexpr OpRow opRows[] = {
#define X(name, text, fewest, most) {SymOp::name, text, fewest, most},
    INGOT_SYM_OPS(X)
#undef X
};

const OpRow *findOp(std::string_view name) {
  static const std::unordered_map<std::string_view, const OpRow *> table = [] {
    std::unordered_map<std::string_view, const OpRow *> rows;
    for (const OpRow &row : opRows)
      rows.emplace(row.name, &row);
    return rows;
  }();
  auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

const OpRow &rowOf(SymOp op) { return opRows[static_cast<size_t>(op) - static_cast<size_t>(SymOp::Add)]; }

class SymParser {
public:
  explicit SymParser(std::string_view text) : text(text), rest(text) {}

  Result<SymExpr> parse() {
    INGOT_TRY(SymExpr expr, parseExpr(0));
    skipBlanks();
    if (!rest.empty() || expr.op == SymOp::ExprCondPair)
      return bad("unexpected text");
    return expr;
  }

private:
  Error bad(const std::string &why) const {
    return corruptError("bad symbolic expression '" + std::string(text) + "': " + why + " at column " +
                        std::to_string(text.size() - rest.size() + 1));
  }

  void skipBlanks() { rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size())); }

  bool take(char c) {
    skipBlanks();
    if (!rest.starts_with(c))
      return false;
    rest.remove_prefix(1);
    return true;
  }

  std::string_view word() {
    skipBlanks();
    size_t length = 0;
    while (length < rest.size() &&
           (std::isalnum(static_cast<unsigned char>(rest[length])) || rest[length] == '_' || rest[length] == '-'))
      ++length;
    std::string_view found = rest.substr(0, length);
    rest.remove_prefix(length);
    return found;
  }

  std::optional<std::string_view> quoted() {
    skipBlanks();
    char quote = rest.empty() ? '\0' : rest.front();
    if (quote != '\'' && quote != '"')
      return std::nullopt;
    size_t end = rest.find(quote, 1);
    if (end == rest.npos)
      return std::nullopt;
    std::string_view found = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return found;
  }

  /// `, name=value` pairs: a symbol's assumptions, a float's precision. None matters here.
  bool skipAssumptions() {
    while (take(','))
      if (word().empty() || !take('=') || word().empty())
        return false;
    return take(')');
  }

  Result<int64_t> integerFrom(std::string_view digits) const {
    int64_t value = 0;
    const char *end = digits.data() + digits.size();
    auto [stop, failure] = std::from_chars(digits.data(), end, value);
    if (failure == std::errc::result_out_of_range)
      return unsupportedError("symbolic expression '" + std::string(text) + "' has an integer beyond 64 bits");
    if (digits.empty() || failure != std::errc() || stop != end)
      return bad("expected an integer");
    return value;
  }

  Result<SymExpr> parseSymbol() {
    std::optional<std::string_view> name = quoted();
    if (!name || name->empty() || !skipAssumptions())
      return bad("malformed symbol");
    return SymExpr::makeSymbol(std::string(*name));
  }

  Result<SymExpr> parseFloat() {
    std::optional<std::string_view> digits = quoted();
    SymExpr expr;
    expr.op = SymOp::Float;
    if (!digits || !skipAssumptions())
      return bad("malformed number");
    const char *end = digits->data() + digits->size();
    auto [stop, failure] = std::from_chars(digits->data(), end, expr.real);
    if (failure != std::errc() || stop != end)
      return bad("malformed number");
    return expr;
  }

  Result<SymExpr> parseInteger() {
    INGOT_TRY(int64_t value, integerFrom(word()));
    if (!take(')'))
      return bad("expected ')'");
    return SymExpr::makeInteger(value);
  }

  Result<SymExpr> parseExpr(size_t depth) {
    if (depth > maxDepth)
      return corruptError("symbolic expression nested deeper than " + std::to_string(maxDepth));
    std::string_view name = word();
    if (name == "true" || name == "false") {
      SymExpr expr;
      expr.op = SymOp::Boolean;
      expr.boolean = name == "true";
      return expr;
    }
    if (!take('(')) {
      INGOT_TRY(int64_t value, integerFrom(name));
      return SymExpr::makeInteger(value);
    }
    if (name == "Symbol")
      return parseSymbol();
    if (name == "Integer")
      return parseInteger();
    if (name == "Float")
      return parseFloat();
    return parseCall(name, depth);
  }

  Result<SymExpr> parseCall(std::string_view name, size_t depth) {
    const OpRow *row = findOp(name);
    if (!row)
      return unsupportedError("unknown function '" + std::string(name) + "' in symbolic expression '" +
                              std::string(text) + "'");
    SymExpr expr;
    expr.op = row->op;
    if (!take(')')) {
      do {
        INGOT_TRY(SymExpr operand, parseExpr(depth + 1));
        expr.operands.push_back(std::move(operand));
      } while (take(','));
      if (!take(')'))
        return bad("expected ')'");
    }
    int count = static_cast<int>(std::min<size_t>(expr.operands.size(), 1 << 20));
    if (count < row->fewest || (row->most >= 0 && count > row->most))
      return bad("wrong number of operands of " + std::string(name));
    for (const SymExpr &operand : expr.operands)
      if ((operand.op == SymOp::ExprCondPair) != (row->op == SymOp::Piecewise))
        return bad("Piecewise, and nothing else, has conditions");
    return expr;
  }

  std::string_view text, rest;
};

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

// How tightly an operator binds, loosest first; Python's order.
enum Binding { Loosest, OrLevel, AndLevel, NotLevel, Compare, ShiftLevel, Sum, Product, Power, Atom };

struct InfixRow {
  SymOp op;
  std::string_view text;
  Binding binding;
};

constexpr InfixRow infixRows[] = {
    {SymOp::Or, " or ", OrLevel},
    {SymOp::And, " and ", AndLevel},
    {SymOp::Equal, " == ", Compare},
    {SymOp::NotEqual, " != ", Compare},
    {SymOp::Less, " < ", Compare},
    {SymOp::LessEqual, " <= ", Compare},
    {SymOp::Greater, " > ", Compare},
    {SymOp::GreaterEqual, " >= ", Compare},
    {SymOp::LShift, " << ", ShiftLevel},
    {SymOp::RShift, " >> ", ShiftLevel},
    {SymOp::Add, " + ", Sum},
    {SymOp::Mul, "*", Product},
    {SymOp::FloorDiv, "//", Product},
    {SymOp::CleanDiv, "//", Product},
    {SymOp::IntTrueDiv, "/", Product},
    {SymOp::FloatTrueDiv, "/", Product},
    {SymOp::Rational, "/", Product},
    {SymOp::Mod, " % ", Product},
    {SymOp::PythonMod, " % ", Product},
    {SymOp::Pow, "**", Power},
    {SymOp::PowByNatural, "**", Power},
    {SymOp::FloatPow, "**", Power},
};

const InfixRow *findInfix(SymOp op) {
  auto found = std::ranges::find(infixRows, op, &InfixRow::op);
  return found == std::end(infixRows) ? nullptr : &*found;
}

std::string print(const SymExpr &expr, Binding outer);

std::string printReal(double value) {
  char buffer[32];
  auto [end, failure] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, end);
  bool isWhole = text.find_first_of(".en") == text.npos;
  return isWhole ? text + ".0" : text;
}

/// The part behind the sign of `-x` and `-3*x`, which a sum prints as a subtraction.
std::optional<SymExpr> negated(const SymExpr &expr) {
  bool isProduct = expr.op == SymOp::Mul && expr.operands.size() > 1;
  const SymExpr &factor = isProduct ? expr.operands.front() : expr;
  if (!factor.isInteger() || factor.integer >= 0 || factor.integer == INT64_MIN)
    return std::nullopt;
  SymExpr positive = expr;
  (isProduct ? positive.operands.front() : positive).integer = -factor.integer;
  if (isProduct && factor.integer == -1) {
    positive.operands.erase(positive.operands.begin());
    if (positive.operands.size() == 1)
      positive = SymExpr(positive.operands.front());
  }
  return positive;
}

/// SymPy keeps numbers first, Python people write them last: "s0 + 1".
std::string printSum(const SymExpr &expr) {
  std::vector<const SymExpr *> terms;
  for (bool isNumber : {false, true})
    for (const SymExpr &operand : expr.operands)
      if (operand.isInteger() == isNumber)
        terms.push_back(&operand);
  std::string text;
  for (const SymExpr *term : terms) {
    std::optional<SymExpr> positive = text.empty() ? std::nullopt : negated(*term);
    if (positive)
      text += " - " + print(*positive, Product);
    else
      text += (text.empty() ? "" : " + ") + print(*term, Sum);
  }
  return text;
}

std::string printInfix(const SymExpr &expr, const InfixRow &row) {
  if (expr.op == SymOp::Add)
    return printSum(expr);
  if (expr.op == SymOp::Mul && expr.operands.size() > 1 && expr.operands[0].isInteger() &&
      expr.operands[0].integer == -1)
    if (std::optional<SymExpr> positive = negated(expr))
      return "-" + print(*positive, Product);
  bool isChain = expr.op == SymOp::Mul || expr.op == SymOp::And || expr.op == SymOp::Or;
  // Neighbours of the same level need parentheses unless the operator is associative.
  Binding inner = isChain ? row.binding : static_cast<Binding>(row.binding + 1);
  std::string text;
  for (size_t i = 0; i < expr.operands.size(); ++i) {
    const SymExpr &operand = expr.operands[i];
    bool isOtherProduct = expr.op == SymOp::Mul && i > 0 && operand.op != SymOp::Mul && findInfix(operand.op);
    text += i ? row.text : "";
    text += print(operand, isOtherProduct ? Power : inner);
  }
  return text;
}

std::string printCall(const SymExpr &expr) {
  constexpr std::string_view opaque = "OpaqueUnaryFn_";
  std::string_view name = rowOf(expr.op).name;
  if (name.starts_with(opaque))
    name.remove_prefix(opaque.size());
  std::string text(name);
  text += "(";
  for (size_t i = 0; i < expr.operands.size(); ++i)
    text += (i ? ", " : "") + print(expr.operands[i], Loosest);
  return text + ")";
}

std::string print(const SymExpr &expr, Binding outer) {
  switch (expr.op) {
  case SymOp::Integer: {
    std::string text = std::to_string(expr.integer);
    return expr.integer < 0 && outer >= Power ? "(" + text + ")" : text;
  }
  case SymOp::Float:
    return printReal(expr.real);
  case SymOp::Boolean:
    return expr.boolean ? "True" : "False";
  case SymOp::Symbol:
    return expr.symbol;
  case SymOp::Identity:
    return print(expr.operands[0], outer);
  case SymOp::Not: {
    std::string text = "not " + print(expr.operands[0], NotLevel);
    return outer > NotLevel ? "(" + text + ")" : text;
  }
  default:
    break;
  }
  const InfixRow *row = findInfix(expr.op);
  if (!row || expr.operands.size() < 2)
    return printCall(expr);
  std::string text = printInfix(expr, *row);
  return row->binding < outer ? "(" + text + ")" : text;
}

} // namespace

SymExpr SymExpr::makeInteger(int64_t value) {
  SymExpr expr;
  expr.integer = value;
  return expr;
}

SymExpr SymExpr::makeSymbol(std::string name) {
  SymExpr expr;
  expr.op = SymOp::Symbol;
  expr.symbol = std::move(name);
  return expr;
}

SymExpr SymExpr::make(SymOp op, std::vector<SymExpr> operands) {
  SymExpr expr;
  expr.op = op;
  expr.operands = std::move(operands);
  return expr;
}

Result<SymExpr> pt2::parseSymExpr(std::string_view text) { return SymParser(text).parse(); }

std::string pt2::printSymExpr(const SymExpr &expr) { return print(expr, Loosest); }

void pt2::collectSymbols(const SymExpr &expr, std::set<std::string> &symbols) {
  if (expr.isSymbol())
    symbols.insert(expr.symbol);
  for (const SymExpr &operand : expr.operands)
    collectSymbols(operand, symbols);
}
