#include "graph/Symbols.h"

#include "pt2/SymExpr.h"

#include <charconv>
#include <functional>

namespace ingot::graph {

using pt2::SymExpr;
using pt2::SymExprText;

namespace {

template <typename T> std::optional<T> numberOf(const std::string &text) {
  T value{};
  const char *end = text.data() + text.size();
  auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (text.empty() || failure != std::errc() || stop != end)
    return std::nullopt;
  return value;
}

/// A symbol as SymPy writes it: sizes of inputs ("s77") are known to be positive, those that depend on data are not.
std::string exactSymbol(const std::string &name) {
  return "Symbol('" + name + (name.starts_with('s') ? "', positive=True, integer=True)" : "', integer=True)");
}

std::string exact(const pt2::SymInt &value) {
  return value.isConcrete() ? "Integer(" + std::to_string(value.concrete()) + ")" : value.expr().text;
}

/// Some number for every symbol: two expressions that agree on it are taken for the same.
std::optional<pt2::SymValue> sample(std::string_view symbol) {
  return pt2::SymValue(static_cast<int64_t>(std::hash<std::string_view>()(symbol) % 4001) + 5003);
}

std::optional<int64_t> sampled(const pt2::SymInt &value) {
  if (value.isConcrete())
    return value.concrete();
  Result<SymExpr> expr = pt2::parseSymExpr(value.expr().text);
  if (!expr)
    return std::nullopt;
  Result<int64_t> number = pt2::evaluateSymInt(*expr, sample);
  return number ? std::optional(*number) : std::nullopt;
}

} // namespace

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string SymbolWriter::expression(const SymExprText &expr) {
  Result<SymExpr> parsed = pt2::parseSymExpr(expr.text);
  if (parsed && parsed->isSymbol()) {
    Symbol &symbol = document.symbols[parsed->symbol];
    if (const int64_t *hint = std::get_if<int64_t>(&expr.hint))
      symbol.hint = *hint;
    return parsed->symbol;
  }
  if (auto known = texts.find(expr.text); known != texts.end())
    return known->second;
  // A function that this reader doesn't know keeps its exact form, as do two expressions that read the same.
  std::string readable = parsed ? pt2::printSymExpr(*parsed) : expr.text;
  if (document.expressions.contains(readable))
    readable = expr.text;
  document.expressions[readable] = expr.text;
  texts[expr.text] = readable;
  std::set<std::string> symbols;
  if (parsed)
    pt2::collectSymbols(*parsed, symbols);
  for (const std::string &symbol : symbols)
    document.symbols.try_emplace(symbol);
  return readable;
}

Size SymbolWriter::size(const pt2::SymInt &value) {
  if (value.isConcrete())
    return value.concrete();
  Result<SymExpr> parsed = pt2::parseSymExpr(value.expr().text);
  if (parsed && parsed->isInteger())
    return parsed->integer;
  return expression(value.expr());
}

std::vector<Size> SymbolWriter::sizes(const std::vector<pt2::SymInt> &values) {
  std::vector<Size> list;
  for (const pt2::SymInt &value : values)
    list.push_back(size(value));
  return list;
}

std::string SymbolWriter::text(const pt2::SymInt &value) {
  Size written = size(value);
  const int64_t *number = std::get_if<int64_t>(&written);
  return number ? std::to_string(*number) : std::get<std::string>(written);
}

std::string SymbolWriter::text(const pt2::SymFloat &value) {
  return value.isConcrete() ? Json(value.concrete()).dump() : expression(value.expr());
}

std::string SymbolWriter::text(const pt2::SymBool &value) {
  if (value.isConcrete())
    return value.concrete() ? "True" : "False";
  return expression(value.expr());
}

bool SymbolWriter::isContiguous(const pt2::TensorMeta &meta) {
  int64_t expected = 1;
  for (size_t d = meta.sizes.size(); d-- > 0;) {
    std::optional<int64_t> size = sampled(meta.sizes[d]), stride = sampled(meta.strides[d]);
    if (!size || !stride)
      return false;
    if (*size == 0)
      return true;
    if (*size != 1 && *stride != expected)
      return false;
    if (__builtin_mul_overflow(expected, *size, &expected))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<SymExprText> SymbolReader::expression(const std::string &text) const {
  SymExprText expr;
  if (auto found = document.expressions.find(text); found != document.expressions.end())
    expr.text = found->second;
  else if (document.symbols.contains(text))
    expr.text = exactSymbol(text);
  else
    return corruptError("the size '" + text + "' is neither in 'symbols' nor in 'expressions'");
  INGOT_TRY(SymExpr parsed, pt2::parseSymExpr(expr.text));
  auto hintOf = [this](std::string_view name) -> std::optional<pt2::SymValue> {
    auto symbol = document.symbols.find(std::string(name));
    if (symbol == document.symbols.end() || !symbol->second.hint)
      return std::nullopt;
    return pt2::SymValue(*symbol->second.hint);
  };
  if (Result<int64_t> hint = pt2::evaluateSymInt(parsed, hintOf))
    expr.hint = *hint;
  return expr;
}

Result<pt2::SymInt> SymbolReader::size(const Size &size) const {
  if (const int64_t *number = std::get_if<int64_t>(&size))
    return pt2::SymInt(*number);
  return integer(std::get<std::string>(size));
}

Result<std::vector<pt2::SymInt>> SymbolReader::sizes(const std::vector<Size> &given) const {
  std::vector<pt2::SymInt> list;
  for (const Size &item : given) {
    INGOT_TRY(pt2::SymInt value, size(item));
    list.push_back(std::move(value));
  }
  return list;
}

Result<pt2::SymInt> SymbolReader::integer(const std::string &text) const {
  if (std::optional<int64_t> number = numberOf<int64_t>(text))
    return pt2::SymInt(*number);
  INGOT_TRY(SymExprText expr, expression(text));
  return pt2::SymInt(std::move(expr));
}

Result<pt2::SymFloat> SymbolReader::number(const std::string &text) const {
  if (std::optional<double> number = numberOf<double>(text))
    return pt2::SymFloat(*number);
  INGOT_TRY(SymExprText expr, expression(text));
  return pt2::SymFloat(std::move(expr));
}

Result<pt2::SymBool> SymbolReader::boolean(const std::string &text) const {
  if (text == "True" || text == "False")
    return pt2::SymBool(text == "True");
  INGOT_TRY(SymExprText expr, expression(text));
  return pt2::SymBool(std::move(expr));
}

std::vector<pt2::SymInt> SymbolReader::contiguousStrides(const std::vector<pt2::SymInt> &sizes) {
  std::vector<pt2::SymInt> strides(sizes.size());
  pt2::SymInt step(int64_t(1));
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    int64_t product = 0;
    if (step.isConcrete() && step.concrete() == 1)
      step = sizes[d];
    else if (!step.isConcrete() || !sizes[d].isConcrete())
      step = pt2::SymInt(SymExprText{"Mul(" + exact(step) + ", " + exact(sizes[d]) + ")", {}});
    else
      step = __builtin_mul_overflow(step.concrete(), sizes[d].concrete(), &product) ? pt2::SymInt(int64_t(0))
                                                                                    : pt2::SymInt(product);
  }
  return strides;
}

} // namespace ingot::graph
