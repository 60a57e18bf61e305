#include "import/Guards.h"

#include "base/Condition.h"
#include "base/Hash.h"
#include "base/Log.h"
#include "base/Symbols.h"
#include "import/GraphImporter.h"
#include "import/SignatureText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <variant>

using namespace mlir;

namespace ingot {
namespace {

/// An entry of `L['tree']['leaf'][0].field`: "leaf", 0, or "field".
using PathEntry = std::variant<std::string, int64_t>;

/// Takes the entries off that `text` begins with; nothing after an entry that is neither.
std::vector<PathEntry> takePath(llvm::StringRef &text) {
  std::vector<PathEntry> path;
  text.consume_front("L");
  while (text.starts_with("[") || (text.starts_with(".") && !text.starts_with(".size()"))) {
    int64_t number = 0;
    if (text.consume_front(".")) {
      const llvm::StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      path.emplace_back(name.str());
      text = text.drop_front(name.size());
    } else if (text = text.drop_front(); text.consume_front("'")) {
      auto [name, rest] = text.split("']");
      path.emplace_back(name.str());
      text = rest;
    } else if (!text.consumeInteger(10, number) && text.consume_front("]")) {
      path.emplace_back(number);
    } else {
      return {};
    }
  }
  return path;
}

/// A number of leaves before a part of the inputs' tree, and that part.
struct TreePart {
  const pt2::TreeSpec *tree = nullptr;
  size_t before = 0;

  /// Becomes its child; false if there is none.
  bool descend(size_t child) {
    if (child >= tree->children.size())
      return false;
    for (size_t i = 0; i < child; ++i)
      before += tree->children[i].leafCount();
    tree = &tree->children[child];
    return true;
  }
  bool descend(const PathEntry &entry) {
    const auto *number = std::get_if<int64_t>(&entry);
    if (tree->keys.empty() || (number && tree->kind == pt2::TreeKind::NamedTuple))
      return number && *number >= 0 && descend(static_cast<size_t>(*number));
    const pt2::TreeKey key = number ? pt2::TreeKey(*number) : pt2::TreeKey(std::get<std::string>(entry));
    return descend(static_cast<size_t>(std::ranges::find(tree->keys, key) - tree->keys.begin()));
  }
};

/// The argument that a path begins with, and the entries that name it: one, or two for what `*args` and `**kwargs` have taken.
std::optional<std::pair<size_t, size_t>> argumentOf(std::span<const PathEntry> path,
                                                    std::span<const std::string> names) {
  auto find = [&](const std::string &name) -> std::optional<size_t> {
    auto found = std::ranges::find(names, name);
    return found == names.end() ? std::nullopt : std::optional<size_t>(found - names.begin());
  };
  const auto *name = path.empty() ? nullptr : std::get_if<std::string>(&path[0]);
  if (!name)
    return std::nullopt;
  if (std::optional<size_t> found = find(*name))
    return std::pair(*found, size_t{1});
  if (path.size() < 2)
    return std::nullopt;
  const auto *number = std::get_if<int64_t>(&path[1]);
  std::optional<size_t> found = find(number ? *name + "_" + std::to_string(*number) : std::get<std::string>(path[1]));
  return found ? std::optional(std::pair(*found, size_t{2})) : std::nullopt;
}

/// The number of the input that a path leads to.
std::optional<size_t> leafAt(std::span<const PathEntry> path, const pt2::ModuleCallSignature &signature) {
  const auto *first = path.empty() ? nullptr : std::get_if<std::string>(&path[0]);
  const auto *second = path.size() == 2 ? std::get_if<int64_t>(&path[1]) : nullptr;
  if (first && *first == "flat_args" && second && *second >= 0)
    return static_cast<size_t>(*second);
  TreePart part{&signature.inSpec, 0};
  if (!signature.forwardArgNames || signature.inSpec.children.size() != 2)
    return std::nullopt;
  auto argument = argumentOf(path, *signature.forwardArgNames);
  if (!argument)
    return std::nullopt;
  const auto [index, entries] = *argument;
  const bool isPositional = index < signature.inSpec.children[0].children.size();
  const PathEntry place =
      isPositional ? PathEntry(static_cast<int64_t>(index)) : PathEntry((*signature.forwardArgNames)[index]);
  if (!part.descend(isPositional ? size_t{0} : size_t{1}) || !part.descend(place))
    return std::nullopt;
  for (const PathEntry &entry : path.subspan(entries))
    if (!part.descend(entry))
      return std::nullopt;
  return part.tree->kind == pt2::TreeKind::Leaf ? std::optional(part.before) : std::nullopt;
}

/// The name of the input behind `L['tree']['leaf'][0]`, which `text` begins with; takes it off. Empty where there is none.
std::string takeInput(llvm::StringRef &text, const pt2::Program &program) {
  std::optional<size_t> number = leafAt(takePath(text), program.rootSignature());
  if (!number)
    return "";
  for (const pt2::InputSpec &input : program.signature.inputs)
    if ((input.kind == pt2::InputKind::UserInput || input.kind == pt2::InputKind::ConstantInput) && (*number)-- == 0)
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

/// Takes what joins conditions off.
bool takeWord(llvm::StringRef &guard, std::string &text) {
  for (llvm::StringRef word : {llvm::StringRef(kOr), llvm::StringRef(kAnd)})
    if (guard.consume_front(word)) {
      text += word;
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
    if (takeFunction(guard, text) || takeWord(guard, text))
      continue;
    char c = guard.front();
    if (!llvm::isDigit(c) && !llvm::StringRef(" +-*/%()=<>!&,.").contains(c))
      return std::nullopt;
    text += c;
    guard = guard.drop_front();
  }
  return text;
}

/// The sizes of a program's tensors and of runs of their dimensions, as functions of the symbols: what they are for a few values.
class KnownSizes {
public:
  explicit KnownSizes(const pt2::Program &program) {
    // Large and different, so that few expressions agree by chance; products of four are exact in double.
    for (const auto &[symbol, range] : program.rangeConstraints)
      for (size_t i = 0; i < values.size(); ++i)
        values[i].emplace(symbol, 1000 + static_cast<int64_t>(hashText(symbol + "#" + std::to_string(i)).low % 8000));
    std::map<std::string, std::optional<Point>> seen;
    for (const auto &[name, meta] : program.graph.tensorValues) {
      Result<std::vector<std::string>> dims = dimTexts(program.graph, name);
      std::vector<std::optional<Point>> sizes;
      for (size_t i = 0; dims && i < dims->size(); ++i) {
        auto [place, isNew] = seen.try_emplace((*dims)[i]);
        if (isNew)
          place->second = at((*dims)[i]);
        sizes.push_back(place->second);
      }
      addProducts(sizes);
    }
  }

  bool contains(std::string_view expression) const {
    const std::optional<Point> point = at(expression);
    return point && points.contains(*point);
  }

private:
  using Point = std::array<double, 4>;

  /// Of sizes that stand side by side. More than a few are not multiplied: a file may have thousands of tensors with 64 of them.
  void addProducts(std::span<const std::optional<Point>> sizes) {
    constexpr size_t most = 8;
    for (size_t first = 0; first < sizes.size(); ++first) {
      Point product;
      product.fill(1);
      for (size_t i = first; i < std::min(sizes.size(), first + most) && sizes[i]; ++i) {
        for (size_t p = 0; p < product.size(); ++p)
          product[p] *= (*sizes[i])[p];
        points.insert(product);
      }
    }
  }

  std::optional<Point> at(std::string_view expression) const {
    Point point{};
    for (size_t i = 0; i < values.size(); ++i) {
      const std::optional<double> value = evaluateReal(expression, values[i]);
      if (!value)
        return std::nullopt;
      point[i] = *value;
    }
    return point;
  }

  std::array<SymbolValues, 4> values;
  std::set<Point> points;
};

/// Exports assume that sizes are not 0 or 1, and need not: nothing of ours depends on it. Other numbers, such as remainders and
/// differences, are compared with these by the model.
bool isAssumption(const Comparison &condition, const KnownSizes &sizes) {
  int64_t bound = 0;
  if (!llvm::StringRef(condition.right).getAsInteger(10, bound))
    return ((condition.sign == "!=" && (bound == 0 || bound == 1)) || (condition.sign == ">=" && bound <= 2) ||
            (condition.sign == ">" && bound <= 1)) &&
           sizes.contains(condition.left);
  if (!llvm::StringRef(condition.left).getAsInteger(10, bound))
    return ((condition.sign == "!=" && (bound == 0 || bound == 1)) || (condition.sign == "<=" && bound <= 2) ||
            (condition.sign == "<" && bound <= 1)) &&
           sizes.contains(condition.right);
  return false;
}

/// Sums, products and quotients of whole numbers: no bits, no real numbers, no functions.
bool isPlainEquation(const Comparison &condition) {
  auto isPlain = [](llvm::StringRef text) { return !text.contains('&') && !text.contains('.') && !text.contains(','); };
  return condition.sign == "==" && isPlain(condition.left) && isPlain(condition.right);
}

SizeEquation equationOf(const Comparison &condition, llvm::StringRef text) {
  if (!isPlainEquation(condition))
    return {text.str(), 1};
  SizeEquation equation{std::string(condition.left)};
  const llvm::StringRef right = condition.right;
  return right.getAsInteger(10, equation.value) ? SizeEquation{equation.expression + " - (" + right.str() + ")", 0}
                                                : equation;
}

/// Adds what a condition over symbols demands; false if it is none.
bool addEquation(std::string_view text, const KnownSizes &sizes, std::vector<SizeEquation> &equations) {
  const std::vector<std::string_view> alternatives = splitOutside(text, kOr);
  std::optional<Comparison> condition;
  bool isAssumed = false;
  for (std::string_view alternative : alternatives) {
    condition = comparisonIn(withoutBrackets(alternative));
    if (!condition)
      return false;
    isAssumed = isAssumed || isAssumption(*condition, sizes);
  }
  if (!isAssumed)
    equations.push_back(alternatives.size() > 1 ? SizeEquation{std::string(text), 1} : equationOf(*condition, text));
  return true;
}

/// Conditions may be long.
std::string shortened(const std::string &guard) {
  constexpr size_t most = 200;
  return guard.size() <= most ? guard : guard.substr(0, most) + " …";
}

} // namespace

std::vector<SizeEquation> sizeEquations(const pt2::Program &program) {
  std::vector<SizeEquation> equations;
  if (program.guards.empty())
    return equations;
  const KnownSizes sizes(program);
  for (const std::string &guard : program.guards) {
    const std::optional<std::string> text = overSymbols(guard, program);
    bool isUnderstood = text.has_value();
    if (text)
      for (std::string_view condition : splitOutside(withoutBrackets(*text), kAnd))
        isUnderstood = addEquation(withoutBrackets(condition), sizes, equations) && isUnderstood;
    if (!isUnderstood)
      INGOT_LOG(Warn, "the program was exported under a condition that is not checked: " + shortened(guard));
  }
  return equations;
}

} // namespace ingot
