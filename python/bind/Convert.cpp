// Converting a program that is in memory: its JSON, and weights where PyTorch keeps them.
#include "Builder.h"
#include "asset/Writer.h"
#include "base/DType.h"
#include "runtime/CompilerApi.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace ingot;
using namespace ingot::bind;

namespace {

/// A tensor that Python keeps alive during the conversion.
struct WeightRef {
  std::string name;
  bool isConstant = false, isParameter = false;
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes, strides;
  int64_t storageOffset = 0;
  uintptr_t storage = 0;
  size_t storageBytes = 0;

  WeightRef(std::string name, bool isConstant, bool isParameter, const std::string &dtypeName,
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

  CompilerWeight view() const {
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
};

void convertMemory(nb::bytes programJson, const std::vector<const WeightRef *> &weights, const std::string &assetPath,
                   bool overwrite, const std::string &optionsJson,
                   const std::vector<std::pair<std::string, nb::callable>> &lowerings) {
  PythonLowerings functions(lowerings);
  std::vector<CompilerWeight> views;
  for (const WeightRef *weight : weights)
    views.push_back(weight->view());
  nb::gil_scoped_release release;
  Result<const CompilerApi *> api = compilerApi();
  if (!api)
    throw Failure(api.error());
  CompilerError error{};
  if (!(*api)->convertFromMemory(programJson.c_str(), programJson.size(), views.data(), views.size(),
                                 functions.rows.data(), functions.rows.size(), assetPath.c_str(), overwrite,
                                 optionsJson.c_str(), &error))
    throw Failure(compilerFailure(**api, error));
}

} // namespace

void bind::initConvert(nb::module_ &module) {
  nb::class_<WeightRef>(module, "WeightRef", "A tensor's place in memory; the caller keeps it alive.")
      .def(nb::init<std::string, bool, bool, const std::string &, std::vector<int64_t>, std::vector<int64_t>, int64_t,
                    uintptr_t, size_t>(),
           "name"_a, "is_constant"_a, "is_parameter"_a, "dtype"_a, "sizes"_a, "strides"_a, "storage_offset"_a,
           "storage"_a, "storage_bytes"_a);
  module.def("convert_memory", &convertMemory, "program_json"_a, "weights"_a, "asset_path"_a, "overwrite"_a,
             "options_json"_a, "lowerings"_a = nb::list());
  module.def(
      "convert_file",
      [](const std::string &pt2Path, const std::string &assetPath, bool overwrite, const std::string &optionsJson) {
        ingot_status status;
        {
          nb::gil_scoped_release release;
          status = ingot_convert(pt2Path.c_str(), assetPath.c_str(), overwrite ? 1 : 0, optionsJson.c_str());
        }
        check(status);
      },
      "pt2_path"_a, "asset_path"_a, "overwrite"_a, "options_json"_a);
  module.def(
      "check_savable",
      [](const std::string &path, bool overwrite) { check(asset::checkSavable(path, {.overwrite = overwrite})); },
      "path"_a, "overwrite"_a);
  module.def(
      "copy_asset",
      [](const std::string &from, const std::string &to, bool overwrite) {
        nb::gil_scoped_release release;
        check(asset::copyAsset(from, to, {.overwrite = overwrite}));
      },
      "source"_a, "target"_a, "overwrite"_a);
}
