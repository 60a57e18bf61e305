// From an asset on disk to a program: the cache entry for this CPU is found, or made.
#include "asset/Cache.h"
#include "asset/Reader.h"
#include "runtime/CompilerApi.h"
#include "runtime/CpuKey.h"
#include "runtime/PlanJson.h"
#include "runtime/Program.h"

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

} // namespace

Result<std::shared_ptr<Program>> Program::load(const std::string &assetPath) {
  INGOT_TRY(asset::Asset opened, asset::readAsset(assetPath));
  auto source = std::make_shared<const asset::Asset>(std::move(opened));
  INGOT_TRY(asset::Specialisation special, specialisationOf(*source, assetPath));
  ProgramSource parts;
  INGOT_TRY(parts.plan, planFromJson(special.planText()));
  parts.kernelLibrary = special.kernels;
  parts.keepAlive = source;
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
