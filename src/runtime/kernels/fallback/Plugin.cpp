#include "runtime/kernels/fallback/Plugin.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace ingot {
namespace {

constexpr const char *kLibraryName = "libingot_fallback.so";

/// The folder this library was loaded from, with a slash; empty if unknown.
std::string ownFolder() {
  static const char anchor = 0;
  Dl_info info{};
  if (!dladdr(&anchor, &info) || !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

std::string libraryPath() {
  const char *given = std::getenv(kFallbackLibraryVariable);
  return given && *given ? given : ownFolder() + kLibraryName;
}

Result<const FallbackApi *> loadPlugin() {
  std::string path = libraryPath();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return unsupportedError("this needs Ingot's libtorch plugin, which cannot be loaded: " + std::string(dlerror()))
        .note("install PyTorch into Ingot's environment (pip install 'ingot[torch]'), or let " +
              std::string(kFallbackLibraryVariable) + " name " + kLibraryName);
  auto *getApi = reinterpret_cast<decltype(&ingot_fallback_api)>(dlsym(library, "ingot_fallback_api"));
  const FallbackApi *api = getApi ? getApi() : nullptr;
  if (!api || api->version != kFallbackApiVersion)
    return unsupportedError("'" + path + "' belongs to another version of Ingot");
  return api;
}

} // namespace

Result<const FallbackApi *> fallbackApi() {
  static std::mutex mutex;
  static const FallbackApi *loaded = nullptr;
  std::lock_guard lock(mutex);
  if (!loaded) {
    INGOT_TRY(loaded, loadPlugin());
  }
  return loaded;
}

Error fallbackFailure(const FallbackApi &api, FallbackError &error) {
  bool isKnown = error.kind >= 0 && error.kind <= static_cast<int32_t>(ErrorKind::Internal);
  Error failure(isKnown ? static_cast<ErrorKind>(error.kind) : ErrorKind::Internal,
                error.message ? error.message : "the libtorch plugin failed");
  if (error.message)
    api.freeMessage(error.message);
  error.message = nullptr;
  return failure;
}

} // namespace ingot
