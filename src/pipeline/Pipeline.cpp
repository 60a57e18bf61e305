#include "pipeline/Pipeline.h"

#include "base/Log.h"
#include "codegen/Codegen.h"
#include "dialect/Conventions.h"
#include "dialect/Dialect.h"
#include "import/Import.h"
#include "passes/plan/EmitPlan.h"
#include "pipeline/Diagnostics.h"
#include "pipeline/Fallback.h"
#include "pipeline/Manifest.h"
#include "pipeline/PassRunner.h"
#include "pt2/Schema.h"
#include "runtime/PlanJson.h"

#include <mlir/Bytecode/BytecodeWriter.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Parser/Parser.h>

using namespace mlir;

namespace ingot {

/// A context for one run. Single-threaded: programs are small, and starting threads costs more.
static void prepare(MLIRContext &context) {
  context.printOpOnDiagnostic(false); // errors are for people; the IR can be dumped
  context.loadDialect<IngotDialect, func::FuncDialect, arith::ArithDialect>();
}

static bool stopsAfter(const PipelineOptions &options, Phase phase) {
  return options.stopAfter && *options.stopAfter == phase;
}

static Result<std::string> writeBytecode(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(module, stream)))
    return internalError("the program could not be written as bytecode");
  return bytes;
}

Result<Converted> convertProgram(const pt2::Program &program, const PipelineOptions &options) {
  INGOT_CHECK(checkOptions(options));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepare(context);
  Converted converted;

  // A schema that we cannot read is no schema; its operator then stays as it was exported.
  for (const std::string &schema : options.schemas)
    if (Status status = pt2::addSchema(schema); !status)
      INGOT_LOG(Warn, "the schema `" + schema + "` is left out: " + status.error().str());
  INGOT_TRY(OwningOpRef<ModuleOp> module, importProgram(program, context));
  if (options.fallback)
    (*module)->setAttr(attr::kFallback, UnitAttr::get(&context));
  INGOT_CHECK(dumpModule(Phase::Import, *module, options));
  if (stopsAfter(options, Phase::Import))
    return converted;
  for (Phase phase : {Phase::Functionalise, Phase::Lower, Phase::Optimise}) {
    INGOT_CHECK(runPhase(phase, *module, options));
    if (stopsAfter(options, phase) && phase != Phase::Optimise)
      return converted;
  }

  (*module)->removeAttr(attr::kFallback);
  prepareFallback(*module);
  INGOT_TRY(converted.bytecode, writeBytecode(*module));
  INGOT_TRY(converted.content, describeContent(*module, program));
  converted.content.program = std::as_bytes(std::span(converted.bytecode));
  return converted;
}

static Result<OwningOpRef<ModuleOp>> readBytecode(std::span<const std::byte> bytes, MLIRContext &context) {
  DiagnosticCollector diagnostics(context);
  StringRef text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return diagnostics.error(ErrorKind::Corrupt, "the program in the asset cannot be read")
        .note("while reading program.mlirbc");
  return module;
}

Result<Specialised> specialiseProgram(std::span<const std::byte> bytecode, const PipelineOptions &options) {
  INGOT_CHECK(checkOptions(options));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepare(context);
  Specialised specialised;

  INGOT_TRY(OwningOpRef<ModuleOp> module, readBytecode(bytecode, context));
  INGOT_CHECK(runPhase(Phase::Fuse, *module, options));
  if (stopsAfter(options, Phase::Fuse))
    return specialised;

  INGOT_TRY(codegen::CompiledKernels kernels, codegen::compileClusters(*module, codegen::TargetCpu::host()));
  INGOT_CHECK(dumpModule(Phase::Codegen, *module, options));
  specialised.kernelLibrary = std::move(kernels.library);
  if (stopsAfter(options, Phase::Codegen))
    return specialised;

  INGOT_TRY(Plan plan, emitPlan(*module));
  if (!specialised.kernelLibrary.empty())
    plan.kernelLibrary = asset::kKernelsFile;
  specialised.planText = planToJson(plan);
  return specialised;
}

} // namespace ingot
