#include "passes/fuse/ClusterGroups.h"

#include "codegen/ScalarFunctions.h"
#include "dialect/InferShape.h"

#include <queue>

#include <llvm/ADT/SetVector.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>
#include <mlir/Transforms/RegionUtils.h>

using namespace mlir;

namespace ingot {

// Limits that keep compilation fast and registers sufficient.
static constexpr size_t kMaxOps = 40;
static constexpr size_t kMaxPointers = 24;

/// The type of a value after its constant, if it is one, has been made a single element.
static Type typeInCluster(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  bool isSplat = elements && elements.isSplat() && elements.getNumElements() != 1;
  return isSplat ? RankedTensorType::get({}, type.getElementType()) : type;
}

bool canHoldConstant(Operation *user, Value operand) {
  auto constant = operand.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements || !elements.isSplat() || !user->hasTrait<Elementwise>() ||
      codegen::dtypeSuffix(elements.getElementType()).empty())
    return false;
  if (elements.getNumElements() == 1)
    return true;
  // A splat gives its sizes to the result; the other operands must give the same.
  llvm::SmallVector<Type> types = llvm::map_to_vector(user->getOperands(), typeInCluster);
  std::optional<Shape> shape = broadcastShapes(types);
  return shape && ShapeRef(*shape) == cast<RankedTensorType>(user->getResult(0).getType()).getShape();
}

/// Whether a size of the result is promised that the operands do not show: the export has seen only inputs for which it
/// holds. A cluster would take the promise for broadcasting; a step of its own is checked when it is bound.
static bool promisesSizes(Operation *op) {
  if (!op->hasTrait<Elementwise>())
    return false;
  std::optional<Shape> shape = broadcastShapes(llvm::to_vector(op->getOperandTypes()));
  ShapeRef promised = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  return !shape || llvm::any_of(llvm::zip(*shape, promised), [](auto pair) {
    auto [shown, size] = pair;
    return shown == ShapedType::kDynamic && size != ShapedType::kDynamic;
  });
}

ClusterGroups::ClusterGroups(Block &block, Sizes &sizes, const llvm::DenseSet<Operation *> &constants) : sizes(sizes) {
  for (Operation &op : block.without_terminator()) {
    positions[&op] = static_cast<unsigned>(ops.size());
    ops.push_back(&op);
  }
  addDependencies(block);
  groups.resize(ops.size());
  groupOf.resize(ops.size());
  for (unsigned position = 0; position < ops.size(); ++position) {
    start(position, constants);
    if (groups[position].isCluster)
      joinProducers(position);
  }
}

void ClusterGroups::addDependencies(Block &block) {
  dependencies.resize(ops.size());
  std::optional<unsigned> lastEffect;
  for (unsigned position = 0; position < ops.size(); ++position) {
    llvm::SetVector<Value> used(ops[position]->operand_begin(), ops[position]->operand_end());
    getUsedValuesDefinedAbove(ops[position]->getRegions(), used);
    for (Value value : used)
      if (Operation *producer = value.getDefiningOp(); producer && producer->getBlock() == &block)
        dependencies[position].push_back(positions.lookup(producer));
    // Ops with effects keep their order.
    if (!isPure(ops[position])) {
      if (lastEffect)
        dependencies[position].push_back(*lastEffect);
      lastEffect = position;
    }
  }
}

void ClusterGroups::start(unsigned position, const llvm::DenseSet<Operation *> &constants) {
  Operation *op = ops[position];
  ClusterGroup &group = groups[position];
  groupOf[position] = position;
  group.members = {position};
  group.isCluster = codegen::canCompile(op) && !promisesSizes(op);
  group.isConstant = constants.contains(op);
  if (!group.isCluster)
    return;
  group.reduceRank = codegen::lastDimsReduced(op);
  llvm::append_range(group.shape, sizes.of(group.reduceRank != 0 ? op->getOperand(0) : op->getResult(0)));
}

void ClusterGroups::joinProducers(unsigned position) {
  llvm::SetVector<unsigned> producers;
  for (unsigned dependency : dependencies[position])
    producers.insert(groupOf[dependency]);
  llvm::SmallVector<unsigned> order = producers.takeVector();
  // First those with reductions: an op on the reduced shape fits to one of them only, and not to its own kind.
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-groups[a].reduceRank, a) < std::pair(-groups[b].reduceRank, b);
  });
  for (unsigned producer : order)
    tryMerge(producer, groupOf[position]);
}

bool ClusterGroups::contains(const ClusterGroup &group, Operation *op) const {
  auto found = positions.find(op);
  return found != positions.end() && &groups[groupOf[found->second]] == &group;
}

/// Extends `merged` by the consumer's shape and reductions; false if the two do not go together.
bool ClusterGroups::unify(ClusterGroup &merged, const ClusterGroup &consumer) const {
  if (merged.shape == consumer.shape) {
    if (merged.reduceRank != 0 && consumer.reduceRank != 0 && merged.reduceRank != consumer.reduceRank)
      return false;
    merged.reduceRank = std::max(merged.reduceRank, consumer.reduceRank);
    return true;
  }
  if (merged.reduceRank == 0 || consumer.reduceRank != 0)
    return false;
  ShapeKey reduced = merged.shape;
  std::fill(reduced.end() - merged.reduceRank, reduced.end(), 1);
  return reduced == consumer.shape;
}

/// Whether every operand has one stride along the reduced dimensions: it has all of them, or none.
bool ClusterGroups::fitsRows(const ClusterGroup &group) const {
  if (group.reduceRank <= 1)
    return true;
  for (Value operand : operandsOf(group)) {
    llvm::ArrayRef<SizeKey> shape = sizes.of(operand);
    bool hasAll = true, hasNone = true;
    for (int64_t fromEnd = 1; fromEnd <= group.reduceRank; ++fromEnd) {
      bool isMissing = fromEnd > static_cast<int64_t>(shape.size());
      SizeKey size = isMissing ? 1 : shape[shape.size() - fromEnd];
      hasAll &= size == group.shape[group.shape.size() - fromEnd];
      hasNone &= size == 1;
    }
    if (!hasAll && !hasNone)
      return false;
  }
  return true;
}

bool ClusterGroups::isSmall(const ClusterGroup &group) const {
  return group.members.size() <= kMaxOps && operandsOf(group).size() + resultsOf(group).size() <= kMaxPointers;
}

/// Whether group `target` must run before group `from`, other than by `from` using it directly.
bool ClusterGroups::reaches(unsigned from, unsigned target, unsigned except) const {
  llvm::DenseSet<unsigned> seen = {from, except};
  llvm::SmallVector<unsigned> work;
  auto expand = [&](unsigned group, bool isDirect) {
    for (unsigned member : groups[group].members)
      for (unsigned dependency : dependencies[member]) {
        unsigned next = groupOf[dependency];
        if (next == target && !isDirect)
          return true;
        if (next != target && seen.insert(next).second)
          work.push_back(next);
      }
    return false;
  };
  expand(from, true);
  while (!work.empty())
    if (expand(work.pop_back_val(), false))
      return true;
  return false;
}

bool ClusterGroups::tryMerge(unsigned producer, unsigned consumer) {
  if (producer == consumer || !groups[producer].isCluster || groups[producer].isConstant != groups[consumer].isConstant)
    return false;
  ClusterGroup merged = groups[producer];
  if (!unify(merged, groups[consumer]))
    return false;
  // A value that left the cluster and came back would make it depend on itself.
  bool isNew = groups[consumer].members.size() == 1;
  if (reaches(consumer, producer, consumer) || (!isNew && reaches(producer, consumer, producer)))
    return false;
  merged.members.append(groups[consumer].members);
  llvm::sort(merged.members);
  ClusterGroup before = std::exchange(groups[producer], std::move(merged));
  ClusterGroup absorbed = std::exchange(groups[consumer], ClusterGroup());
  for (unsigned member : absorbed.members)
    groupOf[member] = producer;
  if (isSmall(groups[producer]) && fitsRows(groups[producer]))
    return true;
  for (unsigned member : absorbed.members)
    groupOf[member] = consumer;
  groups[producer] = std::move(before);
  groups[consumer] = std::move(absorbed);
  return false;
}

llvm::SmallVector<Value> ClusterGroups::operandsOf(const ClusterGroup &group) const {
  llvm::SetVector<Value> operands;
  for (unsigned member : group.members)
    for (Value operand : ops[member]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!(producer && contains(group, producer)) && !canHoldConstant(ops[member], operand))
        operands.insert(operand);
    }
  return operands.takeVector();
}

llvm::SmallVector<Value> ClusterGroups::resultsOf(const ClusterGroup &group) const {
  llvm::SmallVector<Value> results;
  for (unsigned member : group.members) {
    Value result = ops[member]->getResult(0);
    if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !contains(group, user); }))
      results.push_back(result);
  }
  return results;
}

std::vector<const ClusterGroup *> ClusterGroups::inOrder() const {
  // Groups that can run, the one that was complete first in the block coming first.
  std::priority_queue<std::pair<unsigned, unsigned>, std::vector<std::pair<unsigned, unsigned>>, std::greater<>> ready;
  std::vector<llvm::DenseSet<unsigned>> users(groups.size());
  std::vector<unsigned> waitingFor(groups.size());
  for (unsigned position = 0; position < ops.size(); ++position)
    for (unsigned dependency : dependencies[position])
      if (groupOf[dependency] != groupOf[position] && users[groupOf[dependency]].insert(groupOf[position]).second)
        ++waitingFor[groupOf[position]];
  auto push = [&](unsigned group) { ready.emplace(groups[group].members.back(), group); };
  for (unsigned group = 0; group < groups.size(); ++group)
    if (!groups[group].members.empty() && waitingFor[group] == 0)
      push(group);
  std::vector<const ClusterGroup *> order;
  while (!ready.empty()) {
    unsigned group = ready.top().second;
    ready.pop();
    order.push_back(&groups[group]);
    for (unsigned user : users[group])
      if (--waitingFor[user] == 0)
        push(user);
  }
  return order;
}

} // namespace ingot
