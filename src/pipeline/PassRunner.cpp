#include "pipeline/PassRunner.h"

#include "lower/CustomLowering.h"
#include "lower/Passes.h"
#include "passes/Passes.h"
#include "passes/compose/Passes.h"
#include "passes/functionalise/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/outline/Passes.h"
#include "pipeline/Diagnostics.h"

#include <chrono>
#include <filesystem>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/Passes.h>

using namespace mlir;

namespace ingot {
namespace {

struct PassRow {
  Phase phase;
  const char *name;
  bool required;
  std::unique_ptr<Pass> (*create)(); ///< null: makePass() gives it what the options bring
  /// What it means when the pass fails.
  ErrorKind failure;
};

template <auto make> std::unique_ptr<Pass> create() { return make(); }

constexpr ErrorKind kBug = ErrorKind::Internal;
constexpr ErrorKind kModel = ErrorKind::Unsupported;

/// Runs only where the options ask for it.
constexpr const char *kDeclareComposites = "declare-composites";

// The pipeline, top to bottom. Each row says in which phase a pass runs; the order is the order here.
const PassRow kPasses[] = {
    // Regions that only switch autograd or autocast off hide in-place nodes from the next pass.
    {Phase::Functionalise, "inline-regions", true, create<createInlineRegionsPass>, kModel},
    {Phase::Functionalise, "drop-asserts", true, create<createDropAssertsPass>, kModel},
    {Phase::Functionalise, "functionalise", true, create<createFunctionalisePass>, kModel},
    // Calls would hide from the previous pass what a node writes; bodies write nothing.
    {Phase::Functionalise, "attach-bodies", true, [] { return createAttachBodiesPass(); }, kBug},
    {Phase::Functionalise, kDeclareComposites, false, [] { return createDeclareCompositesPass(); }, kBug},
    {Phase::Lower, "lower-aten", true, nullptr, kModel},
    {Phase::Lower, "verify-lowered", true, [] { return createVerifyLoweredPass(); }, kModel},
    {Phase::Optimise, "canonicalize", false, [] { return createCanonicalizerPass(); }, kBug},
    {Phase::Optimise, "cse", false, [] { return createCSEPass(); }, kBug},
    {Phase::Optimise, "fold-select-row", false, [] { return createFoldSelectRowPass(); }, kBug},
    {Phase::Optimise, "fold-pad", false, [] { return createFoldPadPass(); }, kBug},
    // Before anything is added inside of the products.
    {Phase::Optimise, "fold-attention", false, [] { return createFoldAttentionPass(); }, kBug},
    {Phase::Optimise, "fold-gather", false, [] { return createFoldGatherPass(); }, kBug},
    // Scale before bias: a batch norm is a factor, then a shift.
    {Phase::Optimise, "fold-conv-scale", false, [] { return createFoldConvScalePass(); }, kBug},
    {Phase::Optimise, "fold-bias", false, [] { return createFoldBiasPass(); }, kBug},
    // With factor and bias of a batch norm in it, and nothing else.
    {Phase::Optimise, "fold-resize", false, [] { return createFoldResizePass(); }, kBug},
    // A convolution takes its residual before the activation, so it is folded first.
    {Phase::Optimise, "fold-residual", false, [] { return createFoldResidualPass(); }, kBug},
    {Phase::Optimise, "fold-activation", false, [] { return createFoldActivationPass(); }, kBug},
    {Phase::Optimise, "share-bodies", false, [] { return createShareBodiesPass(); }, kBug},
    {Phase::Fuse, "inline-bodies", true, [] { return createInlineBodiesPass(); }, kBug},
    // What was in bodies meets what was around them.
    {Phase::Fuse, "fold-conv-scale-inlined", false, [] { return createFoldConvScalePass(); }, kBug},
    {Phase::Fuse, "fold-bias-inlined", false, [] { return createFoldBiasPass(); }, kBug},
    {Phase::Fuse, "fold-residual-inlined", false, [] { return createFoldResidualPass(); }, kBug},
    {Phase::Fuse, "fold-activation-inlined", false, [] { return createFoldActivationPass(); }, kBug},
    // Before anything is fused: what is not in one function cannot be in one loop.
    {Phase::Fuse, "outline", true, [] { return createOutlinePass(); }, kBug},
    {Phase::Fuse, "fold-factors", false, [] { return createFoldFactorsPass(); }, kBug},
    {Phase::Fuse, "form-blocks", false, [] { return createFormBlocksPass(); }, kBug},
    {Phase::Fuse, "expand-norms", false, [] { return createExpandNormsPass(); }, kBug},
    {Phase::Fuse, "cse-fused", false, [] { return createCSEPass(); }, kBug},
    {Phase::Fuse, "form-clusters", false, [] { return createFormClustersPass(); }, kBug},
};

/// Nested passes are put on functions, others on the module.
void addPass(PassManager &manager, std::unique_ptr<Pass> pass) {
  if (pass->getOpName() == func::FuncOp::getOperationName())
    manager.addNestedPass<func::FuncOp>(std::move(pass));
  else
    manager.addPass(std::move(pass));
}

std::unique_ptr<Pass> makePass(const PassRow &row, const lower::CustomLowerings &custom) {
  return row.create ? row.create() : lower::createLowerAtenPass(&custom);
}

Status runPass(const PassRow &row, ModuleOp module, const PipelineOptions &options) {
  DiagnosticCollector diagnostics(*module.getContext());
  auto start = std::chrono::steady_clock::now();
  PassManager manager(module.getContext());
  lower::CustomLowerings custom(options.lowerings);
  addPass(manager, makePass(row, custom));
  if (failed(manager.run(module)))
    return diagnostics.error(row.failure, std::string("pass `") + row.name + "` failed");
  if (options.timePasses) {
    std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
    llvm::errs() << llvm::format("%9.2f ms  ", spent.count()) << phaseName(row.phase) << "/" << row.name << "\n";
  }
  return {};
}

} // namespace

std::vector<PassInfo> listPasses() {
  std::vector<PassInfo> infos;
  for (const PassRow &row : kPasses)
    infos.push_back({row.phase, row.name, row.required});
  return infos;
}

Status checkOptions(const PipelineOptions &options) {
  for (const std::string &name : options.disabledPasses) {
    auto row = llvm::find_if(kPasses, [&](const PassRow &r) { return r.name == name; });
    if (row == std::end(kPasses))
      return usageError("there is no pass `" + name + "`");
    if (row->required)
      return usageError("pass `" + name + "` cannot be disabled: later phases need it");
  }
  return {};
}

Status dumpModule(Phase phase, ModuleOp module, const PipelineOptions &options) {
  if (options.dumpFolder.empty())
    return {};
  std::error_code failure;
  std::filesystem::create_directories(options.dumpFolder, failure);
  std::string path = options.dumpFolder + "/0" + std::to_string(static_cast<int>(phase)) + "-" +
                     std::string(phaseName(phase)) + ".mlir";
  llvm::raw_fd_ostream stream(path, failure);
  if (failure)
    return ioError("cannot write " + path + ": " + failure.message());
  module.print(stream, OpPrintingFlags().enableDebugInfo(/*enable=*/true, /*prettyForm=*/true));
  return {};
}

Status runPhase(Phase phase, ModuleOp module, const PipelineOptions &options) {
  for (const PassRow &row : kPasses)
    if (row.phase == phase && !options.disabledPasses.contains(row.name) &&
        (options.composites || row.name != std::string_view(kDeclareComposites)))
      INGOT_CHECK(runPass(row, module, options));
  return dumpModule(phase, module, options);
}

void registerIngotPasses() {
  registerIngotComposePasses();
  registerIngotFoldPasses();
  registerFunctionalisePasses();
  registerFusePasses();
  registerIngotOutlinePasses();
  lower::registerLowerPasses();
}

} // namespace ingot
