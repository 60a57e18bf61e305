// From an asset on disk to a program: the cache entry for this CPU is found, or made.
#include "asset/Cache.h"
#include "asset/Reader.h"
#include "runtime/CompilerApi.h"
#include "runtime/CpuKey.h"
#include "runtime/MemoryBudget.h"
#include "runtime/PlanJson.h"
#include "runtime/Program.h"
#include "runtime/kernels/fallback/Plugin.h"

#include <algorithm>

namespace ingot {
namespace {

Status specialise(const std::string &assetPath) {
  INGOT_TRY(const CompilerApi *api, compilerApi());
  CompilerError error;
  if (!api->specialise(assetPath.c_str(), cpuKey().c_str(), nullptr, &error))
    return compilerFailure(*api, error);
  return {};
}

Result<asset::Specialisation> specialisationOf(const asset::Asset &source, const std::string &assetPath) {
  INGOT_TRY(auto found, asset::findSpecialisation(source, cpuKey()));
  if (found)
    return *std::move(found);
  if (Status status = specialise(assetPath); !status)
    return std::move(status.error()).note("while preparing '" + assetPath + "' for this CPU (" + cpuKey() + ")");
  INGOT_TRY(auto made, asset::findSpecialisation(source, cpuKey()));
  if (!made)
    return internalError("'" + assetPath + "' was prepared for this CPU, but the result cannot be found");
  return *std::move(made);
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

} // namespace

Result<std::shared_ptr<Program>> Program::load(const std::string &assetPath, const LoadOptions &options) {
  INGOT_TRY(asset::Asset opened, asset::readAsset(assetPath));
  INGOT_CHECK(checkFallback(opened.manifest, options));
  INGOT_CHECK(checkWeightBytes(opened, options.memoryLimit));
  auto source = std::make_shared<const asset::Asset>(std::move(opened));
  INGOT_TRY(asset::Specialisation special, specialisationOf(*source, assetPath));
  ProgramSource parts;
  INGOT_TRY(parts.plan, planFromJson(special.planText()));
  // The manifest has told already; a plan that says otherwise was tampered with.
  if (!options.fallback && needsFallback(parts.plan))
    return corruptError("the plan runs operators with PyTorch, which the asset's manifest does not say");
  parts.kernelLibrary = special.kernels;
  parts.keepAlive = source;
  parts.memoryLimit = options.memoryLimit;
  parts.findWeight = [source](std::string_view key) -> std::optional<WeightView> {
    const SafeTensor *weight = source->findWeight(key);
    if (!weight)
      weight = source->weights.find(key);
    if (!weight)
      return std::nullopt;
    return WeightView{weight->dtype, weight->shape, weight->data};
  };
  return Program::create(std::move(parts));
}

} // namespace ingot
