#include "codegen/Cluster.h"

#include "codegen/ScalarFunctions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

using namespace mlir;

namespace ingot::codegen {

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

Result<Cluster> Cluster::analyse(ClusterOp op) {
  Cluster cluster(op);
  INGOT_CHECK(cluster.checkOps());
  cluster.findShape();
  cluster.findRows();
  INGOT_CHECK(cluster.findStages());
  cluster.findSpills();
  cluster.findPatterns();
  return cluster;
}

RankedTensorType Cluster::pointerType(size_t index) const {
  size_t operands = body().getNumArguments();
  return tensorType(index < operands ? Value(body().getArgument(index)) : outputs()[index - operands]);
}

static bool isSplatConstant(Operation &op) {
  auto constant = dyn_cast<ConstantOp>(op);
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && elements.isSplat() && !dtypeSuffix(elements.getElementType()).empty();
}

Status Cluster::checkOps() {
  for (Operation &op : body().without_terminator()) {
    if (!isSplatConstant(op) && !canCompile(&op))
      return unsupportedError("cannot compile " + op.getName().getStringRef().str() +
                              " for these element types inside a cluster; leave it outside");
    int64_t reduced = lastDimsReduced(&op);
    if (reduced != 0 && reducedDims != 0 && reduced != reducedDims)
      return corruptError("a cluster reduces different numbers of dimensions");
    reducedDims = std::max(reducedDims, reduced);
  }
  for (size_t i = 0; i < pointerCount(); ++i)
    if (dtypeSuffix(pointerType(i).getElementType()).empty())
      return unsupportedError("a cluster has an operand or result of an element type that cannot be compiled");
  return {};
}

void Cluster::findShape() {
  auto include = [&](Value value) {
    ArrayRef<int64_t> sizes = tensorType(value).getShape();
    if (sizes.size() > shape.size())
      shape.insert(shape.begin(), sizes.size() - shape.size(), 1);
    for (auto [size, common] : llvm::zip(llvm::reverse(sizes), llvm::reverse(shape)))
      if (common == 1 || (ShapedType::isDynamic(common) && size != 1))
        common = size;
  };
  llvm::for_each(body().getArguments(), include);
  for (Operation &op : body().without_terminator())
    llvm::for_each(op.getResults(), include);
}

/// Size of dimension `dim` of the iteration shape in a tensor that broadcasts to it.
int64_t Cluster::sizeAt(Type type, size_t dim) const {
  auto tensor = cast<RankedTensorType>(type);
  size_t missing = shape.size() - tensor.getRank();
  return dim < missing ? 1 : tensor.getDimSize(dim - missing);
}

bool Cluster::hasReducedShape(Value value) const {
  for (size_t dim = shape.size() - reducedDims; dim < shape.size(); ++dim)
    if (sizeAt(value.getType(), dim) != 1)
      return false;
  return true;
}

void Cluster::findRows() {
  for (BlockArgument argument : body().getArguments())
    if (reducedDims != 0 && hasReducedShape(argument))
      rows.insert(argument);
  for (Operation &op : body().without_terminator())
    if (isa<ConstantOp>(op) || (reducedDims != 0 && hasReducedShape(op.getResult(0))))
      rows.insert(op.getResult(0));
}

Status Cluster::findStages() {
  unsigned last = 0;
  for (Operation &op : body().without_terminator()) {
    unsigned stage = 0;
    for (Value operand : op.getOperands())
      stage = std::max(stage, stages.lookup(operand));
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (isRow(reduce.getX()))
        return corruptError("a cluster reduces a value that has no elements along the reduced dimensions");
      if (stage >= reductions.size())
        reductions.resize(stage + 1);
      reductions[stage].push_back(reduce);
      last = std::max(last, stage++);
    }
    stages[op.getResult(0)] = stage;
  }
  for (Value output : outputs())
    if (!isRow(output) || reducedDims == 0) {
      last = std::max(last, stageOf(output));
      storingLoop = last;
    }
  if (storingLoop)
    storingLoop = last;
  reductions.resize(last + 1);
  return {};
}

const Spill *Cluster::spillBefore(Value value, unsigned loop) const {
  for (const Spill &spill : spilled)
    if (spill.value == value && spill.loop < loop)
      return &spill;
  return nullptr;
}

llvm::DenseSet<Value> Cluster::neededIn(unsigned loop) const {
  llvm::DenseSet<Value> needed;
  llvm::SmallVector<Value> work;
  auto push = [&](Value value) {
    if (!isRow(value) && needed.insert(value).second && !spillBefore(value, loop))
      work.push_back(value);
  };
  for (ReduceOp reduce : reductions[loop])
    push(reduce.getX());
  if (storingLoop == loop)
    llvm::for_each(outputs(), push);
  while (!work.empty())
    if (Operation *op = work.pop_back_val().getDefiningOp())
      llvm::for_each(op->getOperands(), push);
  return needed;
}

bool Cluster::hasExpensiveOp() const {
  return llvm::any_of(body(), [](Operation &op) { return isExpensive(&op); });
}

bool Cluster::hasExpensiveCone(Value value) const {
  llvm::DenseSet<Value> seen;
  llvm::SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value current = work.pop_back_val();
    Operation *op = current.getDefiningOp();
    if (!op || isRow(current) || !seen.insert(current).second)
      continue;
    if (isExpensive(op))
      return true;
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Whether the executor could have placed a result in the operand's memory: not if the operand is broadcast.
bool Cluster::mayShareMemory(BlockArgument operand) const {
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] != 1 && sizeAt(operand.getType(), dim) == 1)
      return false;
  return true;
}

/// Expensive values that several loops need are kept in the result's own row instead of being computed again.
void Cluster::findSpills() {
  if (loopCount() < 2 || !storingLoop)
    return;
  // From the last op to the first: a kept value makes it needless to keep what it was computed from.
  for (Operation &op : llvm::reverse(body().without_terminator()))
    if (!isRow(op.getResult(0)) && hasExpensiveCone(op.getResult(0)))
      trySpill(op.getResult(0));
}

bool Cluster::trySpill(Value value) {
  llvm::SmallVector<unsigned> users;
  for (unsigned loop = 0; loop < loopCount(); ++loop)
    if (neededIn(loop).contains(value))
      users.push_back(loop);
  if (users.size() < 2)
    return false;
  std::optional<unsigned> place;
  for (auto [index, output] : llvm::enumerate(outputs())) {
    bool isTaken = llvm::any_of(spilled, [&](const Spill &spill) { return spill.output == index; });
    bool fits = !isRow(output) && tensorType(output).getElementType() == tensorType(value).getElementType();
    if (!isTaken && fits && (!place || output == value))
      place = static_cast<unsigned>(index);
  }
  if (!place)
    return false;
  spilled.push_back({value, users.front(), *place});
  // The result may lie in the memory of an operand. If a later loop still reads one, it must stay whole.
  for (unsigned loop = users.front() + 1; loop < loopCount(); ++loop)
    for (Value needed : neededIn(loop))
      if (auto operand = dyn_cast<BlockArgument>(needed); operand && mayShareMemory(operand)) {
        spilled.pop_back();
        return false;
      }
  return true;
}

void Cluster::addPattern(llvm::function_ref<bool(RankedTensorType)> isBroadcast) {
  StridePattern pattern;
  for (size_t i = 0; i < pointerCount(); ++i)
    pattern.push_back(isBroadcast(pointerType(i)) ? 0 : 1);
  if (!llvm::is_contained(stridePatterns, pattern))
    stridePatterns.push_back(pattern);
}

void Cluster::findPatterns() {
  auto isSingle = [](RankedTensorType type) {
    return llvm::all_of(type.getShape(), [](int64_t size) { return size == 1; });
  };
  if (reducedDims != 0) {
    addPattern([&](RankedTensorType type) {
      for (size_t dim = shape.size() - reducedDims; dim < shape.size(); ++dim)
        if (sizeAt(type, dim) != 1)
          return false;
      return true;
    });
    return;
  }
  addPattern(isSingle);
  // Dimensions of size 1 do not count: the runtime drops them.
  auto innermost = [&](size_t dim) {
    if (shape[dim] != 1)
      addPattern([&](RankedTensorType type) { return sizeAt(type, dim) == 1; });
    return shape[dim] != 1;
  };
  for (size_t dim = shape.size(); dim > 0 && !innermost(dim - 1); --dim) {
  }
  if (shape.size() >= 3)
    innermost(1); // channels last
}

std::string Cluster::structuralKey() const {
  std::string text = "v1;";
  llvm::DenseMap<Value, unsigned> numbers;
  auto name = [&](Value value) {
    numbers.try_emplace(value, numbers.size());
    text += (isRow(value) ? "r" : "e") + dtypeSuffix(tensorType(value).getElementType()).str() + ";";
  };
  llvm::for_each(body().getArguments(), name);
  for (Operation &op : body().without_terminator()) {
    text += op.getName().stripDialect().str();
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      text += llvm::toHex(
          llvm::StringRef(elements.getRawData().data(), std::min<size_t>(elements.getRawData().size(), 16)));
    }
    if (auto reduce = dyn_cast<ReduceOp>(op))
      text += stringifyReduceKind(reduce.getKind()).str();
    for (Value operand : op.getOperands())
      text += "," + std::to_string(numbers.lookup(operand));
    name(op.getResult(0));
  }
  for (Value output : outputs())
    text += ">" + std::to_string(numbers.lookup(output));
  for (const Spill &spill : spilled)
    text += "s" + std::to_string(numbers.lookup(spill.value)) + "@" + std::to_string(spill.loop) + "," +
            std::to_string(spill.output);
  for (const StridePattern &pattern : stridePatterns) {
    text += ";";
    for (int8_t stride : pattern)
      text += stride != 0 ? "1" : "0";
  }
  return text;
}

} // namespace ingot::codegen
