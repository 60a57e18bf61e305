// Weights where PyTorch keeps them; converting files; copying assets.
#include "Bind.h"
#include "Weights.h"
#include "asset/Reader.h"
#include "asset/Writer.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace ingot;
using namespace ingot::bind;

WeightRef::WeightRef(std::string name, bool isConstant, bool isParameter, const std::string &dtypeName,
                     std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t storageOffset, uintptr_t storage,
                     size_t storageBytes)
    : name(std::move(name)), isConstant(isConstant), isParameter(isParameter), sizes(std::move(sizes)),
      strides(std::move(strides)), storageOffset(storageOffset), storage(storage), storageBytes(storageBytes) {
  std::optional<DType> known = dtypeFromName(dtypeName);
  if (!known)
    throw Failure(ErrorKind::Unsupported,
                  "weight '" + this->name + "' has the element type " + dtypeName + ", which Ingot does not know");
  dtype = *known;
}

CompilerWeight WeightRef::view() const {
  CompilerWeight view{};
  view.name = name.c_str();
  view.isConstant = isConstant;
  view.isParameter = isParameter;
  view.dtype = static_cast<decltype(view.dtype)>(dtype);
  view.sizes = sizes.data();
  view.strides = strides.data();
  view.rank = static_cast<decltype(view.rank)>(sizes.size());
  view.storageOffset = storageOffset;
  view.storage = reinterpret_cast<const void *>(storage);
  view.storageBytes = storageBytes;
  return view;
}

std::vector<CompilerWeight> bind::views(const std::vector<const WeightRef *> &weights) {
  std::vector<CompilerWeight> list;
  for (const WeightRef *weight : weights)
    list.push_back(weight->view());
  return list;
}

void bind::initConvert(nb::module_ &module) {
  nb::class_<WeightRef>(module, "WeightRef", "A tensor's place in memory; the caller keeps it alive.")
      .def(nb::init<std::string, bool, bool, const std::string &, std::vector<int64_t>, std::vector<int64_t>, int64_t,
                    uintptr_t, size_t>(),
           "name"_a, "is_constant"_a, "is_parameter"_a, "dtype"_a, "sizes"_a, "strides"_a, "storage_offset"_a,
           "storage"_a, "storage_bytes"_a);
  module.def(
      "convert_file",
      [](const FilePath &pt2Path, const FilePath &assetPath, bool overwrite, const std::string &optionsJson) {
        ingot_status status;
        {
          GilRelease release;
          status = ingot_convert(pt2Path.c_str(), assetPath.c_str(), overwrite ? 1 : 0, optionsJson.c_str());
        }
        check(status);
      },
      "pt2_path"_a, "asset_path"_a, "overwrite"_a, "options_json"_a);
  module.def(
      "check_savable",
      [](const FilePath &path, bool overwrite) { check(asset::checkSavable(path.bytes, {.overwrite = overwrite})); },
      "path"_a, "overwrite"_a);
  module.def(
      "read_manifest",
      [](const FilePath &path) {
        Result<asset::CheckedManifest> read = asset::readManifest(path.bytes);
        if (!read)
          check(Status(std::move(read.error())));
        return asset::manifestText(read->manifest);
      },
      "path"_a);
  module.def(
      "copy_asset",
      [](const FilePath &from, const FilePath &to, bool overwrite) {
        GilRelease release;
        check(asset::copyAsset(from.bytes, to.bytes, {.overwrite = overwrite}));
      },
      "source"_a, "target"_a, "overwrite"_a);
}
