#include "codegen/Optimize.h"

#include "codegen/ScalarBitcode.h"

#include <mutex>

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

namespace ingot::codegen {

static void initialiseTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const TargetCpu &target) {
  initialiseTarget();
  std::string message;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(target.triple, message);
  if (!found)
    return unsupportedError("cannot generate code for " + target.triple + ": " + message);
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(target.triple, target.name, target.features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return unsupportedError("cannot generate code for CPU " + target.name);
  return machine;
}

/// Links what the kernels call, and makes it disappear into them.
static Status linkScalarFunctions(llvm::Module &module) {
  llvm::MemoryBufferRef bitcode(scalarBitcode(), "scalar functions");
  auto scalars = llvm::getLazyBitcodeModule(bitcode, module.getContext());
  if (!scalars)
    return internalError("the scalar functions cannot be read: " + llvm::toString(scalars.takeError()));
  // They are written for any CPU of the architecture; ours is more specific.
  (*scalars)->setTargetTriple(module.getTargetTriple());
  (*scalars)->setDataLayout(module.getDataLayout());
  llvm::SmallPtrSet<llvm::Function *, 8> kernels;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      kernels.insert(&function);
  if (llvm::Linker::linkModules(module, std::move(*scalars), llvm::Linker::LinkOnlyNeeded))
    return internalError("the scalar functions do not link with the kernels");
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || kernels.contains(&function))
      continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    function.setComdat(nullptr);
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  return {};
}

static void setCpuAttributes(llvm::Module &module, const llvm::TargetMachine &machine) {
  llvm::StringRef features = machine.getTargetFeatureString();
  bool hasAvx512 = features.contains("+avx512f");
  for (llvm::Function &function : module) {
    for (const char *name :
         {"target-cpu", "target-features", "tune-cpu", "frame-pointer", "stack-protector-buffer-size"})
      function.removeFnAttr(name);
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", features);
    if (hasAvx512)
      function.addFnAttr("prefer-vector-width", "512");
  }
}

/// Every libm function is there; loops are not turned into calls of memcpy and memset, which kernels must not need.
static llvm::TargetLibraryInfoImpl libraryInfo(const llvm::Module &module) {
  llvm::TargetLibraryInfoImpl info{llvm::Triple(module.getTargetTriple())};
  for (llvm::LibFunc function : {llvm::LibFunc_memcpy, llvm::LibFunc_memset, llvm::LibFunc_memmove})
    info.setUnavailable(function);
  return info;
}

static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  tuning.LoopUnrolling = true;
  llvm::PassBuilder passes(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(libraryInfo(module)); });
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager pipeline;
  // Inlined first, the scalar functions are not optimised on their own.
  pipeline.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  pipeline.addPass(llvm::GlobalDCEPass());
  pipeline.addPass(passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3));
  pipeline.run(module, modules);
}

Result<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  INGOT_CHECK(linkScalarFunctions(module));
  setCpuAttributes(module, machine);
  std::string problems;
  llvm::raw_string_ostream log(problems);
  if (llvm::verifyModule(module, &log))
    return internalError("a cluster became invalid LLVM IR: " + log.str());
  optimise(module, machine);

  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emitter;
  if (machine.addPassesToEmitFile(emitter, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return internalError("the target cannot emit object files");
  emitter.run(module);
  return std::string(object);
}

} // namespace ingot::codegen
