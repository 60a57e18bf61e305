#include "lower/Report.h"

#include "dialect/Ops.h"
#include "import/Location.h"
#include "lower/Lowering.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;

namespace ingot::lower {

namespace {

std::string reasonOf(AtenOp op) {
  if (auto refused = op->getAttrOfType<StringAttr>(kRefusedAttr))
    return refused.str();
  return "there is no lowering for it";
}

/// The next step, by what kind of operator it is.
std::string adviceFor(StringRef op, bool isRefused, bool isBug) {
  if (isBug)
    return "please report it with this text";
  StringRef scope = op.split("::").first;
  if (scope == "higher_order")
    return "call ep.run_decompositions() before saving, or export the model without this construct";
  if (scope != "aten" && scope != "prims")
    return "it is a custom operator: register a decomposition and call ep.run_decompositions() "
           "before saving";
  if (isRefused)
    return "change the model as the reason says";
  return "call ep.run_decompositions() before saving; if it is still listed then, leave it out of the model";
}

void addSource(LeftOver &leftOver, const SourceInfo &source) {
  if (source.file.empty() || leftOver.sources.size() == LeftOver::kMaxSources)
    return;
  std::string line = source.file + ":" + std::to_string(source.line);
  if (!llvm::is_contained(leftOver.sources, line))
    leftOver.sources.push_back(line);
}

} // namespace

std::vector<LeftOver> collectLeftOvers(ModuleOp module) {
  std::vector<LeftOver> result;
  std::map<std::pair<std::string, std::string>, size_t> known;
  module.walk<WalkOrder::PreOrder>([&](AtenOp op) {
    std::string name = op.getTarget().str(), reason = reasonOf(op);
    SourceInfo source = sourceInfo(op.getLoc());
    auto [it, isNew] = known.try_emplace({name, reason}, result.size());
    if (isNew) {
      LeftOver entry;
      entry.op = name;
      entry.firstNode = source.node;
      entry.modulePath = source.modulePath;
      entry.reason = reason;
      entry.isBug = StringRef(reason).starts_with(kBugPrefix);
      entry.whatToDo = adviceFor(name, op->hasAttr(kRefusedAttr), entry.isBug);
      result.push_back(std::move(entry));
    }
    LeftOver &leftOver = result[it->second];
    ++leftOver.count;
    addSource(leftOver, source);
  });
  return result;
}

std::string formatLeftOvers(const std::vector<LeftOver> &leftOvers) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (leftOvers.empty())
    return text;
  int64_t nodes = 0;
  for (const LeftOver &leftOver : leftOvers)
    nodes += leftOver.count;
  out << nodes << (nodes == 1 ? " node has" : " nodes have") << " no native form:\n";
  for (const LeftOver &leftOver : leftOvers) {
    out << "\n  " << leftOver.op << ", " << leftOver.count << (leftOver.count == 1 ? " node" : " nodes");
    if (!leftOver.firstNode.empty())
      out << ", first '" << leftOver.firstNode << "'";
    if (!leftOver.modulePath.empty())
      out << " in " << leftOver.modulePath;
    out << "\n    why:   " << leftOver.reason << "\n";
    if (!leftOver.sources.empty())
      out << "    where: " << llvm::join(leftOver.sources, ", ") << "\n";
    out << "    next:  " << leftOver.whatToDo << "\n";
  }
  return text;
}

} // namespace ingot::lower
