#include "runtime/kernels/fallback/Plugin.h"

#include "base/ForkSafeMutex.h"
#include "runtime/OwnLibrary.h"

#include <cstdlib>

namespace ingot {
namespace {

constexpr const char *kLibraryName = "libingot_fallback.so";

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
  return apiOf<FallbackApi>(library, "ingot_fallback_api", kFallbackApiVersion, path);
}

} // namespace

Result<const FallbackApi *> fallbackApi() {
  static ForkSafeMutex mutex;
  static const FallbackApi *loaded = nullptr;
  std::lock_guard lock(mutex);
  if (!loaded) {
    INGOT_TRY(loaded, loadPlugin());
  }
  return loaded;
}

Error fallbackFailure(const FallbackApi &api, FallbackError &error) {
  return apiFailure(api, error, "the libtorch plugin failed");
}

} // namespace ingot
