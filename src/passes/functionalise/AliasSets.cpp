#include "passes/functionalise/AliasSets.h"

#include "dialect/Conventions.h"
#include "import/Carrier.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {

Value ViewStep::input() const { return operandOf(op, argument); }
RankedTensorType ViewStep::inputType() const { return cast<RankedTensorType>(input().getType()); }
RankedTensorType ViewStep::resultType() const { return cast<RankedTensorType>(op->getResult(result).getType()); }

bool allowsFallback(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  return module && module->hasAttr(attr::kFallback);
}

AliasSets::View &AliasSets::baseOf(Value value) {
  auto [it, isNew] = views.try_emplace(value);
  if (isNew) {
    it->second = {bases.size(), {}, value, 0};
    bases.push_back({value, value});
  }
  return it->second;
}

void AliasSets::addView(Value result, const ViewStep &step, Value input) {
  View view = baseOf(input);
  view.chain.push_back(step);
  view.value = result;
  view.version = bases[view.base].version;
  views[result] = std::move(view);
}

void AliasSets::addUncertainCopy(Value copy, Value input, ArrayAttr notOne) {
  size_t original = baseOf(input).base;
  uncertainCopies.push_back({baseOf(copy).base, original, notOne});
}

bool AliasSets::isSeenAfter(size_t base, AtenOp writer) {
  if (Value value = bases[base].first; !value.getDefiningOp<AtenOp>())
    return true; // the caller's, or the model's
  return llvm::any_of(views, [&](const auto &entry) {
    return entry.second.base == base && llvm::any_of(entry.first.getUsers(), [&](Operation *user) {
             return user->getBlock() == writer->getBlock() && writer->isBeforeInBlock(user);
           });
  });
}

LogicalResult AliasSets::checkCopies(size_t base, AtenOp writer) {
  for (const UncertainCopy &pair : uncertainCopies) {
    if ((pair.copy != base && pair.original != base) ||
        !isSeenAfter(pair.copy == base ? pair.original : pair.copy, writer))
      continue;
    if (!pair.notOne)
      return writer.emitError("'") << writer.getTarget()
                                   << "' writes to a tensor of which another is a view or a copy, "
                                   << "as the sizes are; write to a copy (.clone()) instead";
    for (auto symbol : pair.notOne.getAsRange<StringAttr>())
      symbolsNotOne.insert(symbol.str());
  }
  return success();
}

void AliasSets::addAlias(Value alias, Value value) {
  View view = baseOf(value);
  views[alias] = std::move(view);
}

Value AliasSets::apply(const ViewStep &step, Value input) {
  auto clone = cast<AtenOp>(builder.clone(*step.op));
  clone->setOperand(*operandNumberOf(clone, step.argument), input);
  return clone.getResult(step.result);
}

Value AliasSets::current(Value value) {
  auto it = views.find(value);
  if (it == views.end())
    return value;
  View &view = it->second;
  const Base &base = bases[view.base];
  if (view.version == base.version)
    return view.value;
  Value now = base.value;
  for (const ViewStep &step : view.chain)
    now = apply(step, now);
  view.value = now;
  view.version = base.version;
  return now;
}

Value AliasSets::content(Value value) {
  auto it = views.find(value);
  if (it == views.end() || bases[it->second.base].first != value)
    return current(value);
  // A square matrix that `t_` has turned stays turned: the next call begins with it.
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && type.hasStaticShape())
    if (Value now = current(value); now.getType() == type)
      return now;
  return bases[it->second.base].value;
}

LogicalResult AliasSets::write(Value value, Value written, AtenOp writer) {
  View view = baseOf(value);
  if (failed(checkCopies(view.base, writer)))
    return failure();
  Base &base = bases[view.base];
  SmallVector<Value> parents = {base.value};
  for (const ViewStep &step : ArrayRef(view.chain).drop_back(view.chain.empty() ? 0 : 1))
    parents.push_back(apply(step, parents.back()));
  Value content = written;
  for (size_t i = view.chain.size(); i-- > 0;) {
    content = invertView(builder, view.chain[i], parents[i], content, writer);
    if (!content)
      return failure();
  }
  base.value = content;
  ++base.version;
  views[value].value = written;
  views[value].version = base.version;
  return success();
}

bool AliasSets::isWritten(Value base) const {
  auto it = views.find(base);
  return it != views.end() && bases[it->second.base].version > 0;
}

bool AliasSets::isContiguous(Value value) {
  static const llvm::StringSet<> kept = {"aten::view",    "aten::reshape",    "aten::unsqueeze",   "aten::squeeze",
                                         "aten::flatten", "aten::alias",      "aten::detach",      "aten::unflatten",
                                         "aten::to",      "aten::contiguous", "aten::lift_fresh",  "aten::dropout",
                                         "aten::view_as", "aten::reshape_as", "aten::_unsafe_view"};
  return llvm::all_of(baseOf(value).chain, [](ViewStep step) {
    TargetName target(step.op.getTarget());
    if (kept.contains(target.name))
      return true;
    // A run of whole rows lies together; every other piece of a tensor may not.
    std::optional<int64_t> dim = integerOf(step.op, "dim");
    bool isOuter = dim == 0 || dim == -step.inputType().getRank();
    if (target.name == "aten::select" || target.name == "aten::narrow")
      return isOuter;
    return target.name == "aten::slice" && isOuter && integerOf(step.op, "step") == 1;
  });
}

} // namespace ingot
