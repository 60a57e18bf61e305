#include "import/SignatureText.h"

#include "base/Json.h"
#include "pt2/SymExpr.h"

namespace ingot {

template <typename T> static Result<std::string> symbolText(const pt2::SymScalar<T> &scalar) {
  if (scalar.isConcrete())
    return nlohmann::json(scalar.concrete()).dump();
  Result<pt2::SymExpr> expr = pt2::parseSymExpr(scalar.expr().text);
  if (!expr && expr.error().kind == ErrorKind::Unsupported)
    return std::string("?"); // A size that nobody can check is still a size.
  if (!expr)
    return std::move(expr.error());
  return pt2::printSymExpr(*expr);
}

Result<std::vector<std::string>> dimTexts(const pt2::Graph &graph, llvm::StringRef value) {
  std::string_view name(value.data(), value.size());
  std::vector<std::string> texts;
  auto add = [&](const auto &scalar) -> Status {
    INGOT_TRY(std::string text, symbolText(scalar));
    texts.push_back(std::move(text));
    return {};
  };
  if (const pt2::TensorMeta *meta = graph.findTensor(name)) {
    for (const pt2::SymInt &size : meta->sizes)
      INGOT_CHECK(add(size));
  } else if (auto it = graph.symIntValues.find(name); it != graph.symIntValues.end()) {
    INGOT_CHECK(add(it->second));
  } else if (auto it = graph.symFloatValues.find(name); it != graph.symFloatValues.end()) {
    INGOT_CHECK(add(it->second));
  } else if (auto it = graph.symBoolValues.find(name); it != graph.symBoolValues.end()) {
    INGOT_CHECK(add(it->second));
  }
  return texts;
}

} // namespace ingot
