#include "import/Guards.h"

#include "import/SignatureText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

using namespace mlir;

namespace ingot {
namespace {

/// The text of the size that `L['x'].size()[0]` stands for, which `text` begins with; takes it off.
std::optional<std::string> takeSize(llvm::StringRef &text, const pt2::Graph &graph) {
  size_t axis = 0;
  if (!text.consume_front("L['"))
    return std::nullopt;
  auto [name, rest] = text.split("']");
  if (!rest.consume_front(".size()[") || rest.consumeInteger(10, axis) || !rest.consume_front("]"))
    return std::nullopt;
  Result<std::vector<std::string>> dims = dimTexts(graph, name);
  if (!dims || axis >= dims->size())
    return std::nullopt;
  text = rest;
  return "(" + (*dims)[axis] + ")";
}

std::optional<std::string> overSymbols(llvm::StringRef guard, const pt2::Graph &graph) {
  std::string text;
  while (!guard.empty()) {
    if (guard.starts_with("L[")) {
      std::optional<std::string> size = takeSize(guard, graph);
      if (!size)
        return std::nullopt;
      text += *size;
      continue;
    }
    char c = guard.front();
    // Names of functions, quotes and other comparisons are not for us.
    if (!llvm::isDigit(c) && !llvm::StringRef(" +-*/%()=").contains(c))
      return std::nullopt;
    text += c;
    guard = guard.drop_front();
  }
  return text;
}

} // namespace

std::vector<SizeEquation> sizeEquations(const pt2::Program &program) {
  std::vector<SizeEquation> equations;
  for (const std::string &guard : program.guards) {
    std::optional<std::string> text = overSymbols(guard, program.graph);
    if (!text || llvm::StringRef(*text).count('=') != 2 || llvm::StringRef(*text).count("==") != 1)
      continue;
    auto [left, right] = llvm::StringRef(*text).split("==");
    SizeEquation equation{left.trim().str()};
    if (right.trim().getAsInteger(10, equation.value))
      equation = {(left.trim() + " - (" + right.trim() + ")").str(), 0};
    equations.push_back(std::move(equation));
  }
  return equations;
}

} // namespace ingot
