// libingot_compiler.so: the functions behind runtime/CompilerApi.h.
#include "asset/Cache.h"
#include "asset/Reader.h"
#include "asset/Writer.h"
#include "base/AtomicWrite.h"
#include "compiler/Author.h"
#include "compiler/Documents.h"
#include "compiler/Guarded.h"
#include "compiler/Options.h"
#include "compiler/Programs.h"
#include "lower/Registry.h"
#include "passes/functionalise/InPlace.h"
#include "pipeline/Pipeline.h"
#include "pt2/Archive.h"
#include "runtime/CompilerApi.h"
#include "runtime/CpuKey.h"

#include <filesystem>

namespace ingot {
namespace {

Status writeSpecialisation(const asset::Asset &source, std::string_view key, const Specialised &made) {
  INGOT_TRY(asset::SpecialisationWriter writer, asset::SpecialisationWriter::begin(source, key));
  std::string folder = writer.folder() + "/";
  INGOT_CHECK(writeFileAtomically(folder + std::string(asset::kPlanFile), made.planText));
  if (!made.kernelLibrary.empty())
    INGOT_CHECK(writeFileAtomically(folder + std::string(asset::kKernelsFile), made.kernelLibrary));
  auto committed = writer.commit();
  if (!committed)
    return std::move(committed.error());
  return {};
}

Status specialiseAsset(const std::string &path, std::string_view key, const PipelineOptions &options) {
  INGOT_TRY(asset::Asset source, asset::readAsset(path));
  INGOT_TRY(Specialised made, specialiseProgram(source.programBytes(), options));
  if (made.planText.empty()) // stopped before the end, to look at the IR
    return {};
  return writeSpecialisation(source, key, made);
}

Status convertAndSave(const pt2::Program &program, const std::string &path, bool overwrite, CompilerOptions options) {
  Plugins plugins;
  INGOT_CHECK(loadPlugins(options, plugins));
  INGOT_TRY(Converted converted, convertProgram({.entries = {{.program = &program}}}, options.pipeline));
  if (converted.bytecode.empty())
    return {};
  INGOT_CHECK(asset::writeAsset(path, converted.content, {overwrite}));
  if (options.specialise)
    return specialiseAsset(path, cpuKey(), options.pipeline);
  return {};
}

Status convertFile(const char *pt2Path, const char *assetPath, bool overwrite, const char *optionsJson) {
  INGOT_TRY(CompilerOptions options, parseOptions(optionsJson));
  INGOT_CHECK(asset::checkSavable(assetPath, {overwrite}));
  INGOT_TRY(pt2::Program program,
            readProgramFile(pt2Path, options.program, options.weightFiles, options.pipeline.schemas));
  if (options.rewrite)
    INGOT_CHECK(pt2::rewriteProgram(program, *options.rewrite));
  return convertAndSave(program, assetPath, overwrite, options);
}

bool hasLowering(llvm::StringRef target) {
  target.consume_back(".default");
  return lower::findRow(target) || !viewOfMetadataWrite(target).empty() ||
         llvm::any_of(pureNames(target), [](const std::string &name) { return lower::findRow(name) != nullptr; });
}

const CompilerApi kApi = {
    kCompilerApiVersion,
    [](const char *target) { return hasLowering(target); },
    [](const char *pt2Path, const char *assetPath, bool overwrite, const char *options, CompilerError *error) {
      return guarded(error, [&] { return convertFile(pt2Path, assetPath, overwrite, options); });
    },
    [](const char *assetPath, const char *key, const char *options, CompilerError *error) {
      return guarded(error, [&]() -> Status {
        INGOT_TRY(CompilerOptions parsed, parseOptions(options));
        return specialiseAsset(assetPath, key, parsed.pipeline);
      });
    },
    [](char *message) { std::free(message); },
    &kProgramApi,
    &authorApi(),
};

} // namespace
} // namespace ingot

extern "C" __attribute__((visibility("default"))) const ingot::CompilerApi *ingot_compiler_api() {
  return &ingot::kApi;
}
