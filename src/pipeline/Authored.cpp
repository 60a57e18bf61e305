#include "pipeline/Authored.h"

#include "dialect/Dialect.h"
#include "pipeline/Diagnostics.h"
#include "pipeline/Manifest.h"
#include "pipeline/PassRunner.h"

#include <mlir/Bytecode/BytecodeWriter.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>

using namespace mlir;

namespace ingot {

void prepareAuthoring(MLIRContext &context) {
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

Result<Converted> convertAuthored(ModuleOp module, const PipelineOptions &options) {
  INGOT_CHECK(checkOptions(options));
  OwningOpRef<ModuleOp> copy = module.clone();
  INGOT_CHECK(runPhase(Phase::Optimise, *copy, options));
  Converted converted;
  INGOT_TRY(converted.bytecode, moduleBytecode(*copy));
  INGOT_TRY(converted.content, describeContent(*copy, WeightTable()));
  converted.content.program = std::as_bytes(std::span(converted.bytecode));
  return converted;
}

} // namespace ingot
