#include "runtime/OwnLibrary.h"
#include "runtime/dnnl/DnnlApi.h"

namespace ingot {
namespace {

constexpr const char *kLibraryName = "libingot_dnnl.so";

Result<const DnnlApi *> load() {
  const std::string path = ownFolder() + kLibraryName;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return internalError("oneDNN cannot be loaded: " + std::string(dlerror()))
        .note(std::string(kLibraryName) +
              " and libingdnn.so belong to Ingot: install it again if one is missing or broken, "
              "and let the process have more memory if one cannot be mapped");
  return apiOf<DnnlApi>(library, "ingot_dnnl_api", kDnnlApiVersion, path);
}

} // namespace

Result<const DnnlApi *> dnnlApi() {
  static const Result<const DnnlApi *> loaded = load();
  return loaded;
}

} // namespace ingot
