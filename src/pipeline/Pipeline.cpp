#include "pipeline/Pipeline.h"

#include "base/Isolate.h"
#include "base/Log.h"
#include "codegen/Codegen.h"
#include "dialect/Conventions.h"
#include "dialect/CustomOps.h"
#include "dialect/Dialect.h"
#include "graph/Writer.h"
#include "import/Import.h"
#include "passes/plan/EmitPlan.h"
#include "pipeline/Diagnostics.h"
#include "pipeline/EntryNames.h"
#include "pipeline/Fallback.h"
#include "pipeline/Modules.h"
#include "pipeline/PassRunner.h"
#include "pipeline/Paths.h"
#include "pipeline/ProgramGraph.h"
#include "pt2/Schema.h"
#include "runtime/PlanJson.h"

#include <llvm/Support/MemoryBufferRef.h>
#include <mlir/AsmParser/AsmParser.h>
#include <mlir/Bytecode/BytecodeReader.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/Passes.h>

using namespace mlir;

namespace ingot {

static bool stopsAfter(const PipelineOptions &options, Phase phase) {
  return options.stopAfter && *options.stopAfter == phase;
}

/// Sets an attribute from its text, where there is one.
static Status describeBody(func::FuncOp func, const char *name, const std::string &text) {
  if (text.empty())
    return {};
  DiagnosticCollector diagnostics(*func.getContext());
  mlir::Attribute value = parseAttribute(text, func.getContext());
  if (!value)
    return diagnostics.error(ErrorKind::Usage, "the attribute '" + std::string(name) + "' of '" + func.getName().str() +
                                                   "' cannot be read");
  func->setAttr(name, value);
  return {};
}

static Status importBody(const BodyPart &body, ModuleOp module, WeightTable &weights) {
  INGOT_CHECK(importProgram(*body.program, module, weights, {body.symbol, body.weightPrefix, /*takesWeights=*/true}));
  auto func = module.lookupSymbol<func::FuncOp>(body.symbol);
  Builder builder(module.getContext());
  func->setAttr(attr::kBodyOf, builder.getStringAttr(body.op));
  INGOT_CHECK(describeBody(func, attr::kCompositeDecl, body.declaration));
  return describeBody(func, attr::kMetalKernel, body.metalKernel);
}

static Status importParts(const Parts &parts, ModuleOp module, WeightTable &weights) {
  // Entry points first: their names of weights are the ones that users know.
  for (const EntryPart &entry : parts.entries)
    INGOT_CHECK(importProgram(*entry.program, module, weights, {entry.name}));
  for (const BodyPart &body : parts.bodies)
    INGOT_CHECK(importBody(body, module, weights));
  return {};
}

Result<Converted> convertProgram(const Parts &parts, const PipelineOptions &options) {
  INGOT_CHECK(checkOptions(options));
  IsolationHold held;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
  Converted converted;

  // A schema that we cannot read is no schema; its operator then stays as it was exported.
  for (const std::string &schema : options.schemas)
    if (Status status = pt2::addSchema(schema); !status)
      INGOT_LOG(Warn, "the schema `" + schema + "` is left out: " + status.error().str());
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  WeightTable weights;
  INGOT_CHECK(importParts(parts, *module, weights));
  if (options.fallback || options.byTorch)
    (*module)->setAttr(attr::kFallback, UnitAttr::get(&context));
  if (options.byTorch)
    (*module)->setAttr(attr::kByTorch, UnitAttr::get(&context));
  INGOT_CHECK(dumpModule(Phase::Import, *module, options));
  if (stopsAfter(options, Phase::Import))
    return converted;
  for (Phase phase : {Phase::Functionalise, Phase::Lower, Phase::Optimise}) {
    INGOT_CHECK(runPhase(phase, *module, options));
    if (phase == Phase::Functionalise) // only now it is known what is state
      INGOT_CHECK(nameEntries(parts, *module, weights));
    if (stopsAfter(options, phase) && phase != Phase::Optimise)
      return converted;
  }

  if (!options.keepPaths)
    makePathsRelative(*module);
  (*module)->removeAttr(attr::kFallback);
  (*module)->removeAttr(attr::kByTorch);
  prepareFallback(*module);
  INGOT_TRY(converted, finishModule(*module, weights));
  converted.content.manifest.torchVersion = parts.entries.front().program->torchVersion;
  return converted;
}

static Result<OwningOpRef<ModuleOp>> readBytecode(std::span<const std::byte> bytes, MLIRContext &context) {
  DiagnosticCollector diagnostics(context);
  StringRef text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  llvm::MemoryBufferRef buffer(text, "program.mlirbc");
  // Text would do for MLIR, but nobody writes it, and its parser has no limit on nesting.
  if (!isBytecode(buffer))
    return corruptError("the program in the asset is no MLIR bytecode").note("while reading program.mlirbc");
  // Its tables are made as long as they claim to be, before anything in them is read.
  const TighterMemory memory((uint64_t(256) << 20) + 512 * uint64_t(bytes.size()));
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return diagnostics.error(ErrorKind::Corrupt, "the program in the asset cannot be read")
        .note("while reading program.mlirbc");
  return module;
}

/// MLIR's reader of bytecode trusts what it reads, and the passes trust what the importer makes. So whatever starts from
/// the bytes of an asset happens in a process of its own.
static Result<std::vector<std::string>> isolated(std::span<const std::byte> bytecode,
                                                 const std::function<Result<std::vector<std::string>>()> &work) {
  // Many times what programs of this size take.
  const IsolationLimits limits{.seconds = 60 + bytecode.size() / 1000,
                               .bytes = (uint64_t(4) << 30) + 4096 * uint64_t(bytecode.size())};
  return runIsolated("the program in the asset is damaged: it cannot be read or compiled", limits, work);
}

static Result<std::string> isolatedText(std::span<const std::byte> bytecode,
                                        const std::function<Result<std::string>()> &work) {
  INGOT_TRY(std::vector<std::string> texts, isolated(bytecode, [&]() -> Result<std::vector<std::string>> {
              INGOT_TRY(std::string text, work());
              return std::vector<std::string>{std::move(text)};
            }));
  return std::move(texts.front());
}

static Result<std::string> printProgram(std::span<const std::byte> bytecode, const std::string &function,
                                        bool withLocations) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
  INGOT_TRY(OwningOpRef<ModuleOp> module, readBytecode(bytecode, context));
  Operation *shown = function.empty() ? module->getOperation() : module->lookupSymbol(function);
  if (!shown)
    return usageError("there is no function '" + function + "' in the program");
  std::string text;
  llvm::raw_string_ostream stream(text);
  shown->print(stream, OpPrintingFlags().enableDebugInfo(withLocations, /*prettyForm=*/true));
  return text;
}

static Result<std::string> writeProgramGraph(std::span<const std::byte> bytecode) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
  INGOT_TRY(OwningOpRef<ModuleOp> module, readBytecode(bytecode, context));
  return graph::writeDocument(programGraph(*module));
}

static Result<std::string> stripLocations(std::span<const std::byte> bytecode) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
  INGOT_TRY(OwningOpRef<ModuleOp> module, readBytecode(bytecode, context));
  PassManager manager(&context);
  manager.addPass(createStripDebugInfoPass());
  if (failed(manager.run(*module)))
    return internalError("locations could not be removed");
  return moduleBytecode(*module);
}

static Result<Specialised> compileProgram(std::span<const std::byte> bytecode, const PipelineOptions &options) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
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

Result<std::string> programText(std::span<const std::byte> bytecode, const std::string &function, bool withLocations) {
  return isolatedText(bytecode, [&] { return printProgram(bytecode, function, withLocations); });
}

Result<std::string> programDocument(std::span<const std::byte> bytecode) {
  return isolatedText(bytecode, [&] { return writeProgramGraph(bytecode); });
}

Result<std::string> withoutLocations(std::span<const std::byte> bytecode) {
  return isolatedText(bytecode, [&] { return stripLocations(bytecode); });
}

Result<Specialised> specialiseProgram(std::span<const std::byte> bytecode, const PipelineOptions &options) {
  INGOT_CHECK(checkOptions(options));
  INGOT_TRY(std::vector<std::string> texts, isolated(bytecode, [&]() -> Result<std::vector<std::string>> {
              INGOT_TRY(Specialised made, compileProgram(bytecode, options));
              return std::vector<std::string>{std::move(made.planText), std::move(made.kernelLibrary)};
            }));
  return Specialised{.planText = std::move(texts[0]), .kernelLibrary = std::move(texts[1])};
}

} // namespace ingot
