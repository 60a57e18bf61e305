#include "lower/Report.h"

#include "dialect/Conventions.h"
#include "import/Location.h"
#include "lower/CustomLowering.h"
#include "lower/Lowering.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;

namespace ingot::lower {

namespace {

std::string reasonOf(AtenOp op) {
  if (auto refused = op->getAttrOfType<StringAttr>(kRefusedAttr))
    return refused.str();
  if (auto writes = op->getAttrOfType<ArrayAttr>(attr::kWrites); writes && !writes.empty())
    return "it writes to its arguments, and no form of it is known that does not";
  return "there is no lowering for it";
}

/// A mistake in a lowering that the user wrote; running the node elsewhere would hide it.
bool isCustomFailure(StringRef reason) { return reason.starts_with(kCustomPrefix); }

/// The next step, by what kind of operator it is.
std::string adviceFor(StringRef op, StringRef reason, bool isRefused, bool isBug) {
  if (isBug)
    return "if the file is as torch.export.save wrote it, please report it with this text; else export the model again";
  if (isCustomFailure(reason))
    return "correct the lowering that was registered for it, or do not register one";
  StringRef scope = op.split("::").first;
  if (scope == "higher_order")
    return "call ep.run_decompositions() before saving, or export the model without this construct";
  std::string fallback = ", or convert with fallback (ingot convert --fallback, fallback=True) to run it with PyTorch";
  if (scope != "aten" && scope != "prims")
    return "it is a custom operator: register a lowering for it (ingot convert --plugin, lowerings=), or register a "
           "decomposition and call ep.run_decompositions() before saving" +
           fallback;
  if (isRefused)
    return "change the model as the reason says" + fallback;
  return "call ep.run_decompositions() before saving" + fallback;
}

/// The first argument of a kind that cannot be written down for PyTorch.
std::string foreignArgument(AtenOp op) {
  std::string found;
  for (NamedAttribute argument : op.getArgs())
    argument.getValue().walk([&](Attribute value) {
      auto tagged = dyn_cast<TaggedAttr>(value);
      bool isForeign = tagged && (tagged.getKind() == "custom_obj" || tagged.getKind() == "operator");
      if (isForeign || isa<RegionRefAttr, DictionaryAttr>(value))
        found = argument.getName().str();
    });
  return found;
}

/// as_strided and its like see the memory of their operand, which PyTorch is given row by row.
bool seesOtherMemory(AtenOp op) {
  StringRef target = op.getTarget();
  if (target != "aten::as_strided" && target != "aten::as_strided_copy" && target != "aten::as_strided_scatter")
    return false;
  auto exported = op->getAttrOfType<DenseI64ArrayAttr>(attr::kOperandStrides);
  auto type = op->getNumOperands() ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : RankedTensorType();
  if (!exported || !type || exported.size() != type.getRank() + 1 || exported.asArrayRef().back() != 0)
    return true;
  int64_t expected = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    // How many rows there are says nothing about how they lie.
    if ((type.isDynamicDim(i) && i != 0) || (type.getDimSize(i) != 1 && exported[i] != expected))
      return true;
    expected *= type.getDimSize(i);
  }
  return false;
}

void addSource(LeftOver &leftOver, const SourceInfo &source) {
  if (source.file.empty() || leftOver.sources.size() == LeftOver::kMaxSources)
    return;
  std::string line = source.file + ":" + std::to_string(source.line);
  if (!llvm::is_contained(leftOver.sources, line))
    leftOver.sources.push_back(line);
}

} // namespace

std::string whyNoFallback(AtenOp op) {
  StringRef scope = op.getTarget().split("::").first;
  if (!op.getGraphs().empty() || scope == "higher_order")
    return "PyTorch's dispatcher cannot run it, because it has sub-graphs";
  static const llvm::StringSet<> python = {"_operator", "math", "torch", "python", "builtins"};
  if (python.contains(scope) || scope.contains('.'))
    return "it is a function of Python, which PyTorch's dispatcher does not have";
  if (seesOtherMemory(op))
    return "it looks at memory around its operand, which values do not have";
  if (std::string name = foreignArgument(op); !name.empty())
    return "its argument '" + name + "' is an object that no file can hold";
  return "";
}

std::vector<LeftOver> collectLeftOvers(ModuleOp module, bool allowFallback) {
  std::vector<LeftOver> result;
  std::map<std::pair<std::string, std::string>, size_t> known;
  module.walk<WalkOrder::PreOrder>([&](AtenOp op) {
    std::string name = op.getTarget().str(), reason = reasonOf(op);
    if (allowFallback && !isCustomFailure(reason)) {
      std::string why = whyNoFallback(op);
      if (why.empty())
        return;
      reason += "; " + why;
    }
    SourceInfo source = sourceInfo(op.getLoc());
    auto [it, isNew] = known.try_emplace({name, reason}, result.size());
    if (isNew) {
      LeftOver entry;
      entry.op = name;
      entry.firstNode = source.node;
      entry.modulePath = source.modulePath;
      entry.reason = reason;
      entry.isBug = StringRef(reason).starts_with(kBugPrefix);
      entry.whatToDo = adviceFor(name, reason, op->hasAttr(kRefusedAttr), entry.isBug);
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
