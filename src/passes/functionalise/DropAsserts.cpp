#include "import/Carrier.h"
#include "passes/functionalise/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {
namespace {

bool isAssertion(AtenOp op) {
  static const llvm::StringSet<> names = {"aten::_assert_tensor_metadata",
                                          "aten::_assert_scalar",
                                          "aten::sym_constrain_range",
                                          "aten::_functional_assert_scalar",
                                          "aten::sym_constrain_range_for_size",
                                          "aten::_functional_sym_constrain_range",
                                          "aten::_functional_sym_constrain_range_for_size",
                                          "aten::_make_dep_token"};
  return names.contains(TargetName(op.getTarget()).name) && op->use_empty();
}

/// Whether a number was read from a tensor. Others follow from the inputs' sizes, which the entry checks.
bool isReadFromTensor(Value number) {
  llvm::SetVector<Value> work;
  work.insert(number);
  for (size_t i = 0; i < work.size(); ++i) {
    auto op = work[i].getDefiningOp<AtenOp>();
    if (!op || isa<RankedTensorType>(work[i].getType()))
      continue;
    StringRef name = TargetName(op.getTarget()).name;
    if (name == "aten::item" || name == "aten::_local_scalar_dense")
      return true;
    work.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// Arithmetic on symbolic numbers; without uses it is only there for an assertion.
bool isUnusedNumber(AtenOp op) {
  StringRef target = op.getTarget();
  bool symbolic = target.starts_with("_operator::") || target.starts_with("torch::sym_") ||
                  target.starts_with("aten::sym_") || target.starts_with("math::");
  return symbolic && op->getNumResults() > 0 && op->use_empty();
}

struct DropAssertsPass : PassWrapper<DropAssertsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropAssertsPass)

  StringRef getArgument() const override { return "drop-asserts"; }
  StringRef getDescription() const override { return "removes checks of what the entry checks anyway"; }

  void runOnOperation() override {
    SmallVector<AtenOp> ops;
    getOperation().walk([&](AtenOp op) { ops.push_back(op); });
    // Backwards, so that what an erased node used is seen unused.
    for (AtenOp op : llvm::reverse(ops))
      if ((isAssertion(op) && llvm::none_of(op->getOperands(), isReadFromTensor)) || isUnusedNumber(op))
        op.erase();
  }
};

} // namespace

std::unique_ptr<Pass> createDropAssertsPass() { return std::make_unique<DropAssertsPass>(); }

} // namespace ingot
