#include "graph/OpNames.h"

#include <algorithm>

namespace ingot::graph {

namespace {

constexpr std::string_view kOps = "torch.ops.", kHigherOrder = "torch.ops.higher_order.", kOperator = "_operator.",
                           kMath = "math.", kBuiltin = "<built-in function ";

bool take(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// The functions of `math` that FX traces; `operator` has none of these names.
bool isMathFunction(std::string_view name) {
  constexpr std::string_view names[] = {"trunc", "ceil", "floor", "sqrt"};
  return std::ranges::find(names, name) != std::end(names);
}

} // namespace

std::string opTypeOfTarget(std::string_view target) {
  std::string_view name = target;
  if (take(name, kHigherOrder) || take(name, kOps))
    return std::string(name);
  if (take(name, kOperator) || (take(name, kMath) && isMathFunction(name)))
    return std::string(kBuiltin) + std::string(name) + ">";
  return std::string(target);
}

std::string targetOfOpType(std::string_view opType) {
  std::string_view name = opType;
  if (name.starts_with(kOps))
    return std::string(opType);
  if (take(name, kBuiltin) && name.ends_with('>')) {
    name.remove_suffix(1);
    return std::string(isMathFunction(name) ? kMath : kOperator) + std::string(name);
  }
  // Python's own functions that FX writes with an address: "torch.sym_max", "math.pow".
  if (opType.starts_with("torch.") || opType.starts_with(kMath) || opType.starts_with(kOperator))
    return std::string(opType);
  std::string text(opType);
  if (size_t colons = text.find("::"); colons != text.npos)
    text.replace(colons, 2, ".");
  ptrdiff_t dots = std::ranges::count(text, '.');
  if (dots == 0)
    return std::string(kHigherOrder) + text;
  return std::string(kOps) + text + (dots == 1 ? ".default" : "");
}

const pt2::OpSchema *schemaOfTarget(std::string_view target) {
  std::optional<std::string> name = pt2::qualifiedNameOfTarget(target);
  return name ? pt2::findSchema(*name) : nullptr;
}

} // namespace ingot::graph
