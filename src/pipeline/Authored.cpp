#include "pipeline/Authored.h"

#include "dialect/Dialect.h"
#include "pipeline/Diagnostics.h"
#include "pipeline/Manifest.h"
#include "pipeline/PassRunner.h"

#include <mlir/Bytecode/BytecodeWriter.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/Extensions/InlinerExtension.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/Passes.h>

using namespace mlir;

namespace ingot {

void prepareAuthoring(MLIRContext &context) {
  DialectRegistry registry;
  func::registerInlinerExtension(registry);
  context.appendDialectRegistry(registry);
  context.printOpOnDiagnostic(false);
  context.loadDialect<IngotDialect, func::FuncDialect, arith::ArithDialect>();
}

Result<std::string> moduleBytecode(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(module, stream)))
    return internalError("the program could not be written as bytecode");
  return bytes;
}

static Status inlineCalls(ModuleOp module) {
  DiagnosticCollector diagnostics(*module.getContext());
  PassManager manager(module.getContext());
  manager.addPass(createInlinerPass());
  manager.addPass(createSymbolDCEPass());
  if (failed(manager.run(module)))
    return diagnostics.error(ErrorKind::Unsupported, "the graphs that are called cannot be inlined");
  WalkResult left = module.walk([](func::CallOp) { return WalkResult::interrupt(); });
  if (left.wasInterrupted())
    return unsupportedError("graphs that call themselves cannot be inlined");
  return {};
}

Result<Converted> convertAuthored(ModuleOp module, const PipelineOptions &options) {
  INGOT_CHECK(checkOptions(options));
  OwningOpRef<ModuleOp> copy = module.clone();
  INGOT_CHECK(inlineCalls(*copy));
  INGOT_CHECK(runPhase(Phase::Optimise, *copy, options));
  Converted converted;
  INGOT_TRY(converted.bytecode, moduleBytecode(*copy));
  INGOT_TRY(converted.content, describeContent(*copy, pt2::Program()));
  converted.content.program = std::as_bytes(std::span(converted.bytecode));
  return converted;
}

} // namespace ingot
