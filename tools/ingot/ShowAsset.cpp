#include "Inputs.h"
#include "Summary.h"
#include "asset/Cache.h"
#include "asset/Reader.h"
#include "runtime/CpuKey.h"
#include "runtime/Program.h"

#include <algorithm>
#include <filesystem>

using namespace ingot;
using namespace ingot::cli;
namespace fs = std::filesystem;

namespace {

/// Every file of the asset with its size, caches included, relative to the asset.
std::vector<std::pair<std::string, uint64_t>> listFiles(const std::string &path) {
  std::vector<std::pair<std::string, uint64_t>> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator item(path, failure), end; !failure && item != end; item.increment(failure)) {
    std::error_code unreadable;
    if (item->is_regular_file(unreadable))
      files.emplace_back(fs::relative(item->path(), path, unreadable).string(), item->file_size(unreadable));
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Binds the entry point to sizes, as a call would. Nothing is executed.
Result<Summary::MemoryUse> measure(Program &program, const asset::EntryPoint &entry) {
  InputSources random;
  random.randomSeed = 0;
  Summary::MemoryUse use;
  use.entry = entry.name;
  INGOT_TRY(use.sizes, chooseSizes(entry, random));
  INGOT_TRY(std::vector<Tensor> inputs, gatherInputs(entry, random));
  std::vector<TensorView> views;
  for (const Tensor &input : inputs)
    views.push_back({const_cast<std::byte *>(input.data.data()), TensorDesc::contiguous(input.dtype, input.shape)});
  INGOT_TRY(MemoryUse measured, program.memoryUse(entry.name, views));
  use.arenaBytes = measured.arenaBytes;
  use.unsharedBytes = measured.unsharedBytes;
  return use;
}

/// Only where the asset is compiled for this CPU already: showing must not start the compiler.
std::vector<Summary::MemoryUse> measureMemory(const asset::Asset &asset) {
  std::vector<Summary::MemoryUse> uses;
  Result<std::optional<asset::Specialisation>> found = asset::findSpecialisation(asset, cpuKey());
  if (!found || !*found)
    return uses;
  Result<std::shared_ptr<Program>> program = Program::load(asset.path);
  if (!program)
    return uses;
  for (const asset::EntryPoint &entry : asset.manifest.entryPoints)
    if (Result<Summary::MemoryUse> use = measure(**program, entry))
      uses.push_back(*std::move(use));
  return uses;
}

} // namespace

Result<Summary> cli::summariseAsset(const std::string &path) {
  INGOT_TRY(asset::Asset asset, asset::readAsset(path, asset::Verify::Structure));
  Summary summary;
  summary.kind = "asset";
  summary.path = path;
  const asset::FormatVersion &version = asset.manifest.version;
  summary.origin = {{"format", std::to_string(version.major) + "." + std::to_string(version.minor)},
                    {"ingot", asset.manifest.ingotVersion},
                    {"torch", asset.manifest.torchVersion}};
  summary.entryPoints = asset.manifest.entryPoints;
  summary.opCounts = asset.manifest.opCounts;
  summary.weightCount = asset.weights.tensors.size();
  for (const SafeTensor &tensor : asset.weights.tensors)
    summary.weightBytes += tensor.data.size();
  summary.files = listFiles(path);
  summary.requirements = asset.manifest.requirements;
  summary.fallback = asset.manifest.fallback;
  summary.specialisations = asset::listSpecialisations(asset);
  summary.memory = measureMemory(asset);
  return summary;
}
