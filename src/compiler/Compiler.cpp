// libingot_compiler.so: the functions behind runtime/CompilerApi.h.
#include "asset/Cache.h"
#include "asset/Reader.h"
#include "asset/Writer.h"
#include "base/AtomicWrite.h"
#include "compiler/Author.h"
#include "compiler/Guarded.h"
#include "compiler/Options.h"
#include "compiler/Plugins.h"
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

/// Those of plugins, then the caller's own, which count.
Status convertAndSave(const pt2::Program &program, const std::string &path, bool overwrite, CompilerOptions options,
                      std::span<const ingot_lowering> lowerings = {}) {
  Plugins plugins;
  for (const std::string &plugin : options.plugins)
    INGOT_CHECK(plugins.load(plugin));
  options.pipeline.lowerings.assign(plugins.lowerings().begin(), plugins.lowerings().end());
  options.pipeline.lowerings.insert(options.pipeline.lowerings.end(), lowerings.begin(), lowerings.end());
  INGOT_TRY(Converted converted, convertProgram(program, options.pipeline));
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
  INGOT_TRY(pt2::Program program, pt2::readProgram(pt2Path));
  return convertAndSave(program, assetPath, overwrite, options);
}

pt2::MemoryWeight memoryWeight(const CompilerWeight &weight) {
  pt2::MemoryWeight out;
  out.name = weight.name;
  out.isConstant = weight.isConstant;
  out.isParameter = weight.isParameter;
  out.dtype = static_cast<DType>(weight.dtype);
  out.sizes.assign(weight.sizes, weight.sizes + weight.rank);
  out.strides.assign(weight.strides, weight.strides + weight.rank);
  out.storageOffset = weight.storageOffset;
  out.storage = {static_cast<const std::byte *>(weight.storage), weight.storageBytes};
  return out;
}

Status convertFromMemory(std::string_view programJson, std::span<const CompilerWeight> weights,
                         std::span<const ingot_lowering> lowerings, const char *assetPath, bool overwrite,
                         const char *optionsJson) {
  INGOT_TRY(CompilerOptions options, parseOptions(optionsJson));
  INGOT_CHECK(asset::checkSavable(assetPath, {overwrite}));
  std::vector<pt2::MemoryWeight> given;
  for (const CompilerWeight &weight : weights)
    given.push_back(memoryWeight(weight));
  INGOT_TRY(pt2::Program program, pt2::readProgramFromMemory(programJson, given));
  return convertAndSave(program, assetPath, overwrite, options, lowerings);
}

const CompilerApi kApi = {
    kCompilerApiVersion,
    [](const char *pt2Path, const char *assetPath, bool overwrite, const char *options, CompilerError *error) {
      return guarded(error, [&] { return convertFile(pt2Path, assetPath, overwrite, options); });
    },
    [](const char *json, size_t bytes, const CompilerWeight *weights, size_t count, const ingot_lowering *lowerings,
       size_t loweringCount, const char *assetPath, bool overwrite, const char *options, CompilerError *error) {
      return guarded(error, [&] {
        return convertFromMemory({json, bytes}, {weights, count}, {lowerings, loweringCount}, assetPath, overwrite,
                                 options);
      });
    },
    [](const char *assetPath, const char *key, const char *options, CompilerError *error) {
      return guarded(error, [&]() -> Status {
        INGOT_TRY(CompilerOptions parsed, parseOptions(options));
        return specialiseAsset(assetPath, key, parsed.pipeline);
      });
    },
    [](char *message) { std::free(message); },
    &authorApi(),
};

} // namespace
} // namespace ingot

extern "C" __attribute__((visibility("default"))) const ingot::CompilerApi *ingot_compiler_api() {
  return &ingot::kApi;
}
