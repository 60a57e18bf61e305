#include "passes/fuse/ClusterGroups.h"
#include "passes/fuse/Passes.h"

#include <mlir/IR/IRMapping.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FORMCLUSTERSPASS
#include "passes/fuse/Passes.h.inc"

namespace {

/// Ops that depend on weights and constants alone.
llvm::DenseSet<Operation *> findConstants(func::FuncOp function) {
  llvm::DenseSet<Operation *> constants;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto isKnown = [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return producer && constants.contains(producer);
    };
    if (op != function && op->getNumRegions() == 0 && isPure(op) && llvm::all_of(op->getOperands(), isKnown))
      constants.insert(op);
  });
  return constants;
}

/// Builds the cluster op of one group.
class ClusterBuilder {
public:
  ClusterBuilder(const ClusterGroups &groups, const ClusterGroup &group, OpBuilder &builder)
      : groups(groups), group(group), builder(builder) {}

  void build() {
    llvm::SmallVector<Value> results = groups.resultsOf(group);
    if (results.empty())
      return; // nobody needs it
    llvm::SmallVector<Value> operands = groups.operandsOf(group);
    llvm::SmallVector<Location> locations;
    for (unsigned member : group.members)
      locations.push_back(groups.op(member)->getLoc());
    Location loc = builder.getFusedLoc(locations);
    auto cluster = builder.create<ClusterOp>(loc, ValueRange(results).getTypes(), operands, StringAttr());
    Block &body = cluster.getBody().emplaceBlock();
    for (Value operand : operands)
      mapping.map(operand, body.addArgument(operand.getType(), operand.getLoc()));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&body);
    for (unsigned member : group.members)
      cloneMember(groups.op(member));
    auto yielded = llvm::map_to_vector(results, [&](Value result) { return mapping.lookup(result); });
    builder.create<YieldOp>(loc, yielded);
    for (auto [result, replacement] : llvm::zip(results, cluster.getResults()))
      result.replaceUsesWithIf(replacement, [&](OpOperand &use) { return !isMember(use.getOwner()); });
  }

private:
  bool isMember(Operation *op) const {
    return llvm::any_of(group.members, [&](unsigned member) { return groups.op(member) == op; });
  }

  void cloneMember(Operation *op) {
    IRMapping local = mapping;
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        local.map(operand, constant(operand));
    mapping.map(op->getResult(0), builder.clone(*op, local)->getResult(0));
  }

  /// A copy of a constant, as a single element.
  Value constant(Value value) {
    auto source = value.getDefiningOp<ConstantOp>();
    auto elements = cast<DenseElementsAttr>(source.getValue());
    if (elements.getNumElements() != 1) {
      auto type = RankedTensorType::get({}, elements.getElementType());
      elements = elements.resizeSplat(type);
    }
    Value &copy = constants[elements];
    if (!copy)
      copy = builder.create<ConstantOp>(source.getLoc(), cast<RankedTensorType>(elements.getType()), elements);
    return copy;
  }

  const ClusterGroups &groups;
  const ClusterGroup &group;
  OpBuilder &builder;
  IRMapping mapping;
  llvm::DenseMap<Attribute, Value> constants;
};

void formClusters(Block &block, Sizes &sizes, const llvm::DenseSet<Operation *> &constants) {
  ClusterGroups groups(block, sizes, constants);
  OpBuilder builder(block.getTerminator());
  llvm::SmallVector<Operation *> clustered;
  // Everything is moved to the end in an order in which it can run; what is left in front has been replaced.
  for (const ClusterGroup *group : groups.inOrder()) {
    if (!group->isCluster) {
      groups.op(group->members.front())->moveBefore(block.getTerminator());
      continue;
    }
    ClusterBuilder(groups, *group, builder).build();
    for (unsigned member : group->members)
      clustered.push_back(groups.op(member));
  }
  for (Operation *op : llvm::reverse(clustered)) {
    op->dropAllUses();
    op->erase();
  }
  // Clusters hold copies.
  for (ConstantOp constant : llvm::make_early_inc_range(block.getOps<ConstantOp>()))
    if (constant->use_empty())
      constant.erase();
}

struct FormClustersPass : impl::FormClustersPassBase<FormClustersPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    llvm::SmallVector<Block *> blocks;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<ClusterOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
            blocks.push_back(&block);
      return WalkResult::advance();
    });
    llvm::DenseSet<Operation *> constants = findConstants(getOperation());
    for (Block *block : blocks) {
      // Sizes are found anew: earlier blocks have lost the values that the old ones speak of.
      Sizes sizes(getOperation());
      formClusters(*block, sizes, constants);
    }
  }
};

} // namespace

} // namespace ingot
