#include "import/Guards.h"

#include "base/Log.h"
#include "import/GraphImporter.h"
#include "import/SignatureText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

using namespace mlir;

namespace ingot {
namespace {

/// The number of the input behind `L['flat_args'][2]`, or the name behind `L['tree']['leaf'][0]`, which `text` begins with;
/// takes it off. Names of inputs inside of others are those of the way to them, with `_` between.
std::string takeInput(llvm::StringRef &text, const pt2::Program &program) {
  std::vector<std::string> path;
  text.consume_front("L");
  while (text.consume_front("[")) {
    auto [entry, rest] = text.split(']');
    path.push_back(entry.trim('\'').str());
    text = rest;
  }
  size_t number = 0;
  if (path.size() != 2 || path[0] != "flat_args" || llvm::StringRef(path[1]).getAsInteger(10, number))
    return llvm::join(path, "_");
  for (const pt2::InputSpec &input : program.signature.inputs)
    if ((input.kind == pt2::InputKind::UserInput || input.kind == pt2::InputKind::ConstantInput) && number-- == 0)
      return valueName(input.value);
  return "";
}

/// The text of the size that `L['x'].size()[0]`, or of the number that `L['n']` stands for, which `text` begins with; takes it off.
std::optional<std::string> takeSize(llvm::StringRef &text, const pt2::Program &program) {
  const std::string name = takeInput(text, program);
  Result<std::vector<std::string>> dims = dimTexts(program.graph, name);
  size_t axis = 0;
  if (text.consume_front(".size()[") && (text.consumeInteger(10, axis) || !text.consume_front("]")))
    return std::nullopt;
  if (!dims || axis >= dims->size())
    return std::nullopt;
  return "(" + (*dims)[axis] + ")";
}

/// Takes the name of a function off that both sides of a condition may have.
bool takeFunction(llvm::StringRef &guard, std::string &text) {
  for (llvm::StringRef name :
       {"max", "min", "math.trunc", "math.floor", "math.ceil", "torch.sym_float", "torch.sym_max", "torch.sym_min"})
    if (guard.starts_with((name + "(").str())) {
      text += name;
      guard = guard.drop_front(name.size());
      return true;
    }
  return false;
}

std::optional<std::string> overSymbols(llvm::StringRef guard, const pt2::Program &program) {
  std::string text;
  while (!guard.empty()) {
    if (guard.starts_with("L[")) {
      std::optional<std::string> size = takeSize(guard, program);
      if (!size)
        return std::nullopt;
      text += *size;
      continue;
    }
    if (takeFunction(guard, text))
      continue;
    char c = guard.front();
    if (!llvm::isDigit(c) && !llvm::StringRef(" +-*/%()=<>!&,.").contains(c))
      return std::nullopt;
    text += c;
    guard = guard.drop_front();
  }
  return text;
}

struct Comparison {
  llvm::StringRef left, sign, right;
};

/// The only comparison in the text.
std::optional<Comparison> comparisonIn(llvm::StringRef text) {
  const size_t begin = text.find_first_of("=!<>"), end = text.find_first_not_of("=!<>", begin);
  if (end == llvm::StringRef::npos || text.find_first_of("=!<>", end) != llvm::StringRef::npos)
    return std::nullopt;
  return Comparison{text.take_front(begin).trim(), text.slice(begin, end), text.drop_front(end).trim()};
}

/// Exports assume that sizes are not 0 or 1, and need not: nothing of ours depends on it.
bool isAssumption(const Comparison &condition) {
  int64_t bound = 0;
  if (!condition.right.getAsInteger(10, bound))
    return (condition.sign == "!=" && (bound == 0 || bound == 1)) || (condition.sign == ">=" && bound <= 2) ||
           (condition.sign == ">" && bound <= 1);
  if (!condition.left.getAsInteger(10, bound))
    return (condition.sign == "!=" && (bound == 0 || bound == 1)) || (condition.sign == "<=" && bound <= 2) ||
           (condition.sign == "<" && bound <= 1);
  return false;
}

/// Sums, products and quotients of whole numbers: no bits, no real numbers, no functions.
bool isPlainEquation(const Comparison &condition) {
  auto isPlain = [](llvm::StringRef text) { return !text.contains('&') && !text.contains('.') && !text.contains(','); };
  return condition.sign == "==" && isPlain(condition.left) && isPlain(condition.right);
}

} // namespace

std::vector<SizeEquation> sizeEquations(const pt2::Program &program) {
  std::vector<SizeEquation> equations;
  for (const std::string &guard : program.guards) {
    std::optional<std::string> text = overSymbols(guard, program);
    std::optional<Comparison> condition = text ? comparisonIn(*text) : std::nullopt;
    if (!condition) {
      INGOT_LOG(Warn, "the program was exported under a condition that is not checked: " + guard);
      continue;
    }
    if (isAssumption(*condition))
      continue;
    SizeEquation equation{condition->left.str()};
    if (!isPlainEquation(*condition))
      equation = {*text, 1};
    else if (condition->right.getAsInteger(10, equation.value))
      equation = {(condition->left + " - (" + condition->right + ")").str(), 0};
    equations.push_back(std::move(equation));
  }
  return equations;
}

} // namespace ingot
