#include "lower/Passes.h"

#include "dialect/Conventions.h"
#include "lower/CustomLowering.h"
#include "lower/Registry.h"
#include "lower/Report.h"

#include <cassert>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// Remembers what is built, so that a refusal can take it back.
struct Recorder : OpBuilder::Listener {
  SmallVector<Operation *> made;

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { made.push_back(op); }
  void undo() {
    for (Operation *op : llvm::reverse(made))
      op->erase();
  }
};

/// The first complaint of the verifier about what was built; empty when there is none.
std::string verifyAll(MLIRContext *context, ArrayRef<Operation *> ops) {
  std::string complaint;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (complaint.empty())
      complaint = diagnostic.str();
    return success();
  });
  for (Operation *op : ops)
    if (failed(verify(op)) && complaint.empty())
      complaint = "an op is not valid";
  return complaint;
}

void lowerBy(const Row &row, LowerContext &ctx, const Recorder &recorder) {
  if (std::string problem = checkArguments(ctx.op); !problem.empty()) {
    (void)ctx.refuse(problem);
    return;
  }
  if (failed(row.lower(ctx)) || ctx.isRefused()) {
    if (!ctx.isRefused())
      (void)ctx.refuseAsBug("the lowering of " + row.name + " gives no reason");
    return;
  }
  if (std::string problem = verifyAll(ctx.builder.getContext(), recorder.made); !problem.empty())
    (void)ctx.refuseAsBug("the lowering of " + row.name + " made an op that is not valid: " + problem);
}

/// Lowers a carrier by `work`, which refuses or hands over the results, and erases it.
template <typename Work> void replaceCarrier(AtenOp op, Work work) {
  Recorder recorder;
  OpBuilder builder(op, &recorder);
  LowerContext ctx(op, builder);
  try {
    work(ctx, recorder);
  } catch (const FailedAssertion &failure) {
    (void)ctx.refuse(Twine("the arguments do not fit together: ") + failure.what());
  }
  if (ctx.isRefused()) {
    recorder.undo();
    op->setAttr(kRefusedAttr, StringAttr::get(op.getContext(), ctx.refusal()));
    return;
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), ctx.replacements()))
    if (value)
      result.replaceAllUsesWith(value);
  op.erase();
}

struct LowerAtenPass : PassWrapper<LowerAtenPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerAtenPass)

  explicit LowerAtenPass(const CustomLowerings *custom = nullptr) : custom(custom) {}

  StringRef getArgument() const override { return "lower-aten"; }
  StringRef getDescription() const override { return "Lower exported PyTorch nodes to ops of the ingot dialect"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<IngotDialect, arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() override {
    // Inner carriers first: those in the regions of a higher-order node.
    SmallVector<AtenOp> carriers;
    getOperation().walk([&](AtenOp op) { carriers.push_back(op); });
    for (AtenOp op : carriers)
      lower(op);
  }

private:
  /// Numbers stay native: sizes are computed from them.
  bool isLeftToTorch(AtenOp op) {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    return module && module->hasAttr(attr::kByTorch) && !op->getResultTypes().empty() &&
           llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) && whyNoFallback(op).empty();
  }

  void lower(AtenOp op) {
    if (isLeftToTorch(op)) {
      op->setAttr(kRefusedAttr, StringAttr::get(op.getContext(), "everything is left to PyTorch here"));
      return;
    }
    const ingot_lowering *lowering = custom ? custom->find(op.getTarget()) : nullptr;
    if (!lowering || op->hasAttr(attr::kWrites))
      return lowerCarrier(op);
    replaceCarrier(op, [&](LowerContext &ctx, const Recorder &) { (void)lowerByCustom(*lowering, ctx); });
  }

  const CustomLowerings *custom;
};

} // namespace

void lowerCarrier(AtenOp op) {
  const Row *row = findRow(op.getTarget());
  if (!row || op->hasAttr(attr::kWrites))
    return;
  replaceCarrier(op, [&](LowerContext &ctx, const Recorder &recorder) { lowerBy(*row, ctx, recorder); });
}

std::unique_ptr<Pass> createLowerAtenPass(const CustomLowerings *custom) {
  return std::make_unique<LowerAtenPass>(custom);
}

void registerLowerPasses() { PassRegistration<LowerAtenPass>(); }

} // namespace ingot::lower
