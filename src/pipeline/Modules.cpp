#include "pipeline/Modules.h"

#include "dialect/Dialect.h"
#include "pipeline/Manifest.h"

#include <mlir/Bytecode/BytecodeWriter.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Math/IR/Math.h>

using namespace mlir;

namespace ingot {

void prepareContext(MLIRContext &context) {
  context.printOpOnDiagnostic(false); // errors are for people; the IR can be dumped
  context.loadDialect<IngotDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
}

Result<std::string> moduleBytecode(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(module, stream)))
    return internalError("the program could not be written as bytecode");
  return bytes;
}

Result<Converted> finishModule(ModuleOp module, const WeightTable &weights) {
  Converted converted;
  INGOT_TRY(converted.bytecode, moduleBytecode(module));
  INGOT_TRY(converted.content, describeContent(module, weights));
  converted.content.program = std::as_bytes(std::span(converted.bytecode));
  return converted;
}

} // namespace ingot
