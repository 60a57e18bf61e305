// From an asset on disk to a program: the cache entry for this CPU is found, or made.
#include "asset/Cache.h"
#include "asset/Intact.h"
#include "asset/Reader.h"
#include "base/Async.h"
#include "base/Hash.h"
#include "base/Json.h"
#include "runtime/CompilerApi.h"
#include "runtime/CpuKey.h"
#include "runtime/MemoryBudget.h"
#include "runtime/PlanJson.h"
#include "runtime/Program.h"
#include "runtime/kernels/fallback/Plugin.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace ingot {
namespace {

/// Names the cache entry: what is made with fewer passes must not serve calls that ask for all.
std::string specialisationKey(const LoadOptions &options) {
  if (options.disabledPasses.empty())
    return cpuKey();
  std::set<std::string> names(options.disabledPasses.begin(), options.disabledPasses.end());
  return cpuKey() + "-" + hashText(nlohmann::json(names).dump()).hex();
}

Status specialise(const std::string &assetPath, const std::string &key, const LoadOptions &options) {
  INGOT_TRY(const CompilerApi *api, compilerApi());
  CompilerError error;
  std::string text = nlohmann::json{{"disable_passes", options.disabledPasses}}.dump();
  if (!api->specialise(assetPath.c_str(), key.c_str(), text.c_str(), &error))
    return compilerFailure(*api, error);
  return {};
}

Result<asset::Specialisation> makeSpecialisation(const asset::Asset &source, const std::string &assetPath,
                                                 const std::string &key, const LoadOptions &options) {
  if (Status status = specialise(assetPath, key, options); !status)
    return std::move(status.error()).note("while preparing '" + assetPath + "' for this CPU (" + cpuKey() + ")");
  INGOT_TRY(auto made, asset::findSpecialisation(source, key));
  if (!made)
    return internalError("'" + assetPath + "' was prepared for this CPU, but the result cannot be found");
  return *std::move(made);
}

asset::IntactFiles intactFilesOf(const asset::Asset &source, const asset::Specialisation &special) {
  return {special.folder + "/" + std::string(asset::kIntactFile), source.checksum.hex()};
}

/// Says what is kept beside a specialisation: for these weights, and this plan.
std::string programKey(const asset::Asset &source, const asset::Specialisation &special) {
  return source.checksum.hex() + " " + hashText(special.planText()).hex();
}

std::string methodsPath(const asset::Specialisation &special) {
  return special.folder + "/" + std::string(asset::kMethodsFile);
}

bool knowsAll(asset::IntactFiles &intact, const asset::Asset &source) {
  return std::ranges::all_of(source.files, [&](const auto &file) { return intact.knows(*file.second); });
}

std::string fallbackNames(const asset::Manifest &manifest) {
  std::string names;
  for (const asset::FallbackOp &op : manifest.fallback)
    names += (names.empty() ? "" : ", ") + op.name;
  return names;
}

bool needsFallback(const Plan &plan) {
  for (const Function &function : plan.functions)
    for (const std::vector<Step> *steps : {&function.prologue, &function.steps})
      if (std::ranges::any_of(*steps, [](const Step &step) { return step.kernel == kFallbackKernel; }))
        return true;
  return false;
}

/// Before anything is compiled: whether the program may use PyTorch, and whether it can.
Status checkFallback(const asset::Manifest &manifest, const LoadOptions &options) {
  bool isNeeded = std::ranges::find(manifest.requirements, asset::kRequiresLibtorch) != manifest.requirements.end();
  if (!isNeeded)
    return {};
  if (!options.fallback)
    return unsupportedError("the asset was converted with fallback: it runs " + fallbackNames(manifest) +
                            " with PyTorch, which is off by default")
        .note("allow it: ingot.load(path, fallback=True), ingot run --fallback, or the option \"fallback\" of "
              "ingot_program_load_with");
  INGOT_TRY(const FallbackApi *api, fallbackApi());
  for (const asset::FallbackOp &op : manifest.fallback) {
    FallbackError error;
    if (!api->find(op.name.c_str(), &error))
      return fallbackFailure(*api, error);
  }
  return {};
}

/// Before anything is compiled: weights alone may be too much.
Status checkWeightBytes(const asset::Asset &source, uint64_t limit) {
  MemoryBudget budget(limit);
  for (const SafeTensor &weight : source.weights.tensors)
    budget.hold(weight.data.data(), weight.data.size());
  return budget.check(0, "the program");
}

Result<std::shared_ptr<Program>> loadOnce(const std::string &assetPath, const LoadOptions &options) {
  INGOT_TRY(asset::Asset opened, asset::readAsset(assetPath, asset::Verify::Structure));
  INGOT_CHECK(checkFallback(opened.manifest, options));
  INGOT_CHECK(checkWeightBytes(opened, options.memoryLimit));
  auto source = std::make_shared<const asset::Asset>(std::move(opened));
  const std::string key = specialisationKey(options);
  INGOT_TRY(std::optional<asset::Specialisation> special, asset::findSpecialisation(*source, key));
  ProgramSource parts;
  // Every byte is read while the plan is made ready; nothing is called or kept before both are done.
  if (special)
    parts.intact = intactFilesOf(*source, *special);
  std::shared_future<Status> checked;
  if (!knowsAll(parts.intact, *source))
    checked = startAsync([source] { return asset::checkContents(*source); }).share();
  if (!special) {
    INGOT_TRY(special, makeSpecialisation(*source, assetPath, key, options));
    parts.intact = intactFilesOf(*source, *special);
  }
  INGOT_TRY(parts.plan, planFromJson(special->planText()));
  // The manifest has told already; a plan that says otherwise was tampered with.
  if (!options.fallback && needsFallback(parts.plan))
    return corruptError("the plan runs operators with PyTorch, which the asset's manifest does not say");
  parts.kernelLibrary = special->kernels;
  parts.keepAlive = source;
  if (options.keepsConstants) {
    parts.preparedPath = special->folder + "/" + std::string(asset::kPreparedFile);
    parts.packedPath = special->folder + "/" + std::string(asset::kPackedFile);
  }
  parts.preparedKey = programKey(*source, *special);
  parts.memoryLimit = options.memoryLimit;
  parts.timeLimit = options.timeLimit;
  parts.precision = options.precision;
  parts.methods =
      options.method ? MethodTable(*options.method) : MethodTable::read(methodsPath(*special), parts.preparedKey);
  parts.findWeight = [source](std::string_view key) -> std::optional<WeightView> {
    const SafeTensor *weight = source->findWeight(key);
    if (!weight)
      weight = source->weights.find(key);
    if (!weight)
      return std::nullopt;
    return WeightView{weight->dtype, weight->shape, weight->data};
  };
  parts.finishChecks = [checked, source](asset::IntactFiles &intact) -> Status {
    if (!checked.valid())
      return {};
    INGOT_CHECK(checked.get());
    for (const auto &[name, file] : source->files)
      intact.add(*file);
    return {};
  };
  return Program::create(std::move(parts));
}

} // namespace

Status keepMethods(const std::string &assetPath, const LoadOptions &options,
                   const std::vector<std::pair<std::string, Method>> &methods) {
  INGOT_TRY(asset::Asset source, asset::readAsset(assetPath, asset::Verify::Structure));
  INGOT_TRY(std::optional<asset::Specialisation> special,
            asset::findSpecialisation(source, specialisationKey(options)));
  if (!special)
    return ioError("'" + assetPath + "' has no specialisation for this CPU to keep methods in");
  const std::string path = methodsPath(*special), key = programKey(source, *special);
  const MethodTable before = MethodTable::read(path, key);
  MethodTable table = before;
  for (const auto &[problem, method] : methods)
    table.set(problem, method);
  if (table == before)
    return {};
  INGOT_CHECK(table.write(path, key));
  // It has weights in the order of the methods before; the next call writes it anew.
  std::error_code error;
  std::filesystem::remove(special->folder + "/" + std::string(asset::kPackedFile), error);
  return {};
}

Result<std::shared_ptr<Program>> Program::load(const std::string &assetPath, const LoadOptions &options) {
  Result<std::shared_ptr<Program>> loaded = loadOnce(assetPath, options);
  // Somebody may have put another asset in its place meanwhile, and the folder of the first is gone.
  if (!loaded && loaded.error().kind == ErrorKind::Io)
    return loadOnce(assetPath, options);
  return loaded;
}

} // namespace ingot
