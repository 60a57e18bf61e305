// Specialisations: what was made of an asset for one kind of CPU. See Format.h for the layout.
#pragma once

#include "asset/Reader.h"
#include "asset/Staging.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::asset {

struct Specialisation {
  std::string folder;
  std::shared_ptr<MappedFile> plan; ///< plan.json
  std::string kernels;              ///< path of kernels.so, empty if the plan needs none

  std::string_view planText() const;
};

/// A plain file that belongs to the user, and that nobody else may write to. Null whenever something is not as it should
/// be: then what is in it is simply made anew.
std::shared_ptr<MappedFile> mapCacheFile(const std::string &path);

/// The entry for `cpuKey`, checked. Nothing if there is none that fits this asset and this version of
/// Ingot; a damaged entry counts as none.
Result<std::optional<Specialisation>> findSpecialisation(const Asset &asset, std::string_view cpuKey);

/// Fill `folder()` with plan.json and, if needed, kernels.so; then commit. Without a commit nothing stays.
/// Several processes may do this at once; the first valid entry wins.
class SpecialisationWriter {
public:
  /// Chooses the asset's own cache, or the user's if the asset cannot be written to.
  static Result<SpecialisationWriter> begin(const Asset &asset, std::string_view cpuKey);

  const std::string &folder() const { return staging.folder(); }
  Result<Specialisation> commit();

private:
  SpecialisationWriter(Asset asset, std::string cpuKey, Staging staging)
      : asset(std::move(asset)), cpuKey(std::move(cpuKey)), staging(std::move(staging)) {}

  Asset asset;
  std::string cpuKey;
  Staging staging;
};

/// The CPU keys of all entries in the asset's own cache, sorted.
std::vector<std::string> listSpecialisations(const Asset &asset);

} // namespace ingot::asset
