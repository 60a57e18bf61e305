// A function is cut by levels: level 0 is what needs no barrier's result, level n + 1 what needs the result of a barrier
// of level n. All plain ops of one level become one function. What depends on constants only has no level: every
// function gets copies of what it needs, which are computed once when the program is loaded.
#include "passes/outline/Segments.h"

#include "dialect/ControlOps.h"
#include "dialect/Conventions.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ingot {

bool isBarrier(Operation &op) { return op.hasTrait<DataDependent>() || isa<InvokeOp, AtenOp>(op); }

func::FuncOp makePrivate(func::FuncOp user, StringRef suffix, TypeRange arguments, TypeRange results) {
  OpBuilder builder(user);
  auto type = builder.getFunctionType(arguments, results);
  std::string name = (user.getName() + "." + suffix).str();
  auto made = builder.create<func::FuncOp>(user.getLoc(), name, type);
  made.setPrivate();
  // All at once: each change of one would make a list of all.
  auto numbered = [&](const char *prefix, size_t count) {
    return llvm::map_to_vector(llvm::seq<size_t>(0, count), [&](size_t i) {
      NamedAttribute name = builder.getNamedAttr(attr::kName, builder.getStringAttr(prefix + Twine(i)));
      return builder.getDictionaryAttr(name);
    });
  };
  made.setAllArgAttrs(numbered("in", arguments.size()));
  made.setAllResultAttrs(numbered("out", results.size()));
  return made;
}

namespace {

class Cutter {
public:
  explicit Cutter(func::FuncOp func) : func(func), block(func.getBody().front()) {}

  void run() {
    findLevels();
    int last = -1;
    for (auto &[level, ops] : plain)
      last = std::max(last, level);
    for (auto &[level, ops] : barriers)
      last = std::max(last, level);
    builder.setInsertionPoint(block.getTerminator());
    for (int level = 0; level <= last; ++level) {
      moveToFunction(level);
      for (Operation *op : barriers[level])
        op->moveBefore(block.getTerminator());
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (constant.contains(&op) && op.use_empty())
        op.erase();
  }

private:
  void findLevels() {
    int lastEffect = 0;
    for (Operation &op : block.without_terminator()) {
      int level = 0;
      bool isConstant = !isBarrier(op) && isPure(&op) && op.getNumRegions() == 0;
      for (Value operand : op.getOperands()) {
        Operation *from = operand.getDefiningOp();
        isConstant &= from && constant.contains(from);
        level = std::max(level, from ? levels.lookup(from) : 0);
      }
      if (isConstant) {
        constant.insert(&op);
        continue;
      }
      // PyTorch's operators may be random or have other effects: they keep their order among each other.
      if (isa<AtenOp>(op))
        lastEffect = level = std::max(level, lastEffect);
      (isBarrier(op) ? barriers : plain)[level].push_back(&op);
      levels[&op] = isBarrier(op) ? level + 1 : level;
    }
  }

  /// Copies what depends on constants only, and all it needs, into `body`.
  void copyConstant(Operation *op, OpBuilder &body, IRMapping &mapping) {
    SmallVector<Operation *> order;
    llvm::SetVector<Operation *> work;
    work.insert(op);
    for (size_t i = 0; i < work.size(); ++i)
      for (Value operand : work[i]->getOperands())
        work.insert(operand.getDefiningOp());
    order.assign(work.begin(), work.end());
    llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *each : order)
      if (each->getNumResults() == 0 || !mapping.contains(each->getResult(0)))
        body.clone(*each, mapping);
  }

  void moveToFunction(int level) {
    ArrayRef<Operation *> ops = plain[level];
    if (ops.empty())
      return;
    llvm::DenseSet<Operation *> inside(ops.begin(), ops.end());
    llvm::SetVector<Value> inputs, outputs;
    for (Operation *op : ops) {
      for (Value operand : op->getOperands()) {
        Operation *from = operand.getDefiningOp();
        if (!from || (!inside.contains(from) && !constant.contains(from)))
          inputs.insert(operand);
      }
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
          outputs.insert(result);
    }
    if (!outputs.empty())
      replaceByCall(level, inside, inputs.getArrayRef(), outputs.getArrayRef());
    for (Operation *op : llvm::reverse(ops))
      op->erase();
  }

  void replaceByCall(int level, const llvm::DenseSet<Operation *> &inside, ArrayRef<Value> inputs,
                     ArrayRef<Value> outputs) {
    ArrayRef<Operation *> ops = plain[level];
    TypeRange types = ValueRange(outputs).getTypes();
    func::FuncOp made = makePrivate(func, std::to_string(level), ValueRange(inputs).getTypes(), types);
    fill(made, ops, inputs, outputs);
    auto call = builder.create<InvokeOp>(ops.front()->getLoc(), types, inputs, builder.getStringAttr("call"),
                                         builder.getStrArrayAttr({made.getName()}), builder.getDenseI64ArrayAttr({}));
    for (auto [output, result] : llvm::zip_equal(outputs, call.getResults())) {
      Value old = output;
      old.replaceUsesWithIf(result, [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
    }
  }

  void fill(func::FuncOp made, ArrayRef<Operation *> ops, ArrayRef<Value> inputs, ArrayRef<Value> outputs) {
    Block *entry = made.addEntryBlock();
    OpBuilder body = OpBuilder::atBlockBegin(entry);
    IRMapping mapping;
    mapping.map(inputs, entry->getArguments());
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        if (Operation *from = operand.getDefiningOp(); from && constant.contains(from) && !mapping.contains(operand))
          copyConstant(from, body, mapping);
      body.clone(*op, mapping);
    }
    SmallVector<Value> results;
    for (Value output : outputs)
      results.push_back(mapping.lookup(output));
    body.create<func::ReturnOp>(made.getLoc(), results);
  }

  func::FuncOp func;
  Block &block;
  OpBuilder builder{func.getContext()};
  llvm::DenseSet<Operation *> constant;
  llvm::DenseMap<Operation *, int> levels;
  std::map<int, SmallVector<Operation *>> plain, barriers;
};

} // namespace

void cutIntoSegments(func::FuncOp func) {
  if (llvm::none_of(func.getBody().front(), isBarrier))
    return;
  Cutter(func).run();
}

} // namespace ingot
