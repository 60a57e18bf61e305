#include "codegen/Custom.h"

#include "base/Async.h"
#include "base/ScratchFolder.h"
#include "dialect/CustomOps.h"

#include <cstdlib>
#include <thread>

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/xxhash.h>

namespace ingot::codegen {
namespace {

constexpr const char *kCompilerVariable = "INGOT_CLANG";

/// One source, and what becomes of it.
struct Unit {
  std::string kernel; ///< the user's name
  std::string source;
  std::string symbol;
};

Result<std::string> findCompiler(const std::string &kernel) {
  if (const char *chosen = std::getenv(kCompilerVariable); chosen && *chosen) {
    // A name with a slash is taken as it is, whether or not it exists.
    if (auto path = llvm::sys::findProgramByName(chosen); path && llvm::sys::fs::can_execute(*path))
      return *path;
    return usageError(std::string(kCompilerVariable) + " names '" + chosen + "', which is no program");
  }
  for (const char *name : {"clang++-19", "clang++"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  return unsupportedError("the program has a custom kernel in C++ ('" + kernel +
                          "'), and clang, which compiles it for this machine, is not installed: install the package "
                          "clang-19 (apt install clang-19), or set " +
                          kCompilerVariable + " to another clang++");
}

std::vector<std::string> compilerArguments(const std::string &compiler, const Unit &unit, const TargetCpu &target) {
  std::vector<std::string> arguments = {compiler,
                                        "-std=c++20",
                                        "-O3",
                                        "-fPIC",
                                        "-g0",
                                        "-fvisibility=hidden",
                                        "-fno-math-errno",
                                        "-ffp-contract=on",
                                        "-fno-color-diagnostics",
                                        "-Wno-unused-command-line-argument",
                                        "--target=" + target.triple};
  arguments.push_back("-DINGOT_KERNEL=" + unit.symbol);
  // By the compiler's inner options: the outer ones have no spelling for every set of features.
  arguments.insert(arguments.end(), {"-Xclang", "-target-cpu", "-Xclang", target.name});
  llvm::SmallVector<llvm::StringRef> features;
  llvm::StringRef(target.features).split(features, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef feature : features)
    arguments.insert(arguments.end(), {"-Xclang", "-target-feature", "-Xclang", feature.str()});
  return arguments;
}

Result<std::string> readBack(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return ioError("cannot read " + path + ": " + file.getError().message());
  return (*file)->getBuffer().str();
}

/// The object file of a source.
Result<std::string> compileUnit(const std::string &compiler, const Unit &unit, const TargetCpu &target) {
  INGOT_TRY(ScratchFolder folder, ScratchFolder::make());
  INGOT_TRY(std::string source, folder.write("kernel.cpp", unit.source));
  std::string object = folder.file("kernel.o"), log = folder.file("log");
  std::vector<std::string> arguments = compilerArguments(compiler, unit, target);
  arguments.insert(arguments.end(), {"-c", source, "-o", object});
  llvm::SmallVector<llvm::StringRef> refs(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(log), llvm::StringRef(log)};
  std::string problem;
  int code = llvm::sys::ExecuteAndWait(compiler, refs, std::nullopt, redirects, 0, 0, &problem);
  if (code == 0)
    return readBack(object);
  if (code < 0)
    return ioError("'" + compiler + "' cannot be run: " + problem);
  INGOT_TRY(std::string complaints, readBack(log));
  return usageError("the source of the kernel '" + unit.kernel + "' does not compile:\n" + complaints);
}

/// Sources of the module with new symbols, in the order in which they are found.
Result<std::vector<Unit>> collectUnits(mlir::ModuleOp module) {
  llvm::MapVector<llvm::StringRef, Unit> units;
  llvm::StringSet<> taken;
  std::optional<Error> problem;
  module.walk([&](CustomOp op) {
    if (op.getLanguage() != "c++") {
      problem = unsupportedError("the kernel '" + op.getKernel().str() + "' is written in " + op.getLanguage().str() +
                                 ", which this machine has no compiler for: it compiles c++");
      return mlir::WalkResult::interrupt();
    }
    Unit &unit = units[op.getSource()];
    if (unit.symbol.empty()) {
      unit = {op.getKernel().str(), op.getSource().str(),
              "c_" + llvm::utohexstr(llvm::xxh3_64bits(op.getSource()), true, 16)};
      while (!taken.insert(unit.symbol).second)
        unit.symbol += "_";
    }
    op->setDiscardableAttr(kCustomSymbolAttr, mlir::StringAttr::get(op.getContext(), unit.symbol));
    return mlir::WalkResult::advance();
  });
  if (problem)
    return *std::move(problem);
  std::vector<Unit> list;
  for (auto &[source, unit] : units)
    list.push_back(std::move(unit));
  return list;
}

} // namespace

Result<CustomObjects> compileCustom(mlir::ModuleOp module, const TargetCpu &target) {
  INGOT_TRY(std::vector<Unit> units, collectUnits(module));
  CustomObjects made;
  if (units.empty())
    return made;
  INGOT_TRY(std::string compiler, findCompiler(units.front().kernel));
  size_t width = std::max(1u, std::thread::hardware_concurrency());
  for (size_t start = 0; start < units.size(); start += width) {
    std::vector<std::future<Result<std::string>>> running;
    for (const Unit &unit : llvm::ArrayRef(units).slice(start, std::min(width, units.size() - start)))
      running.push_back(startAsync([&] { return compileUnit(compiler, unit, target); }));
    for (std::future<Result<std::string>> &each : running) {
      INGOT_TRY(std::string object, each.get());
      made.objects.push_back(std::move(object));
    }
  }
  for (Unit &unit : units)
    made.symbols.push_back(std::move(unit.symbol));
  return made;
}

} // namespace ingot::codegen
