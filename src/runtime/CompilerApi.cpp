#include "runtime/CompilerApi.h"

#include <dlfcn.h>
#include <mutex>
#include <string>

namespace ingot {
namespace {

constexpr const char *kLibraryName = "libingot_compiler.so";

/// The folder this library was loaded from, with a slash; empty if unknown.
std::string ownFolder() {
  static const char anchor = 0;
  Dl_info info{};
  if (!dladdr(&anchor, &info) || !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

Result<const CompilerApi *> loadCompiler() {
  std::string path = ownFolder() + kLibraryName;
  // Local symbols: LLVM's must not meet those of another library in the process.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return unsupportedError("this needs Ingot's compiler, which cannot be loaded: " + std::string(dlerror()) +
                            "\n  install the compiler, or prepare the asset where it is installed and copy it here "
                            "with its cache folder");
  auto *getApi = reinterpret_cast<decltype(&ingot_compiler_api)>(dlsym(library, "ingot_compiler_api"));
  const CompilerApi *api = getApi ? getApi() : nullptr;
  if (!api || api->version != kCompilerApiVersion)
    return unsupportedError("'" + path + "' belongs to another version of Ingot");
  return api;
}

} // namespace

Result<const CompilerApi *> compilerApi() {
  static std::mutex mutex;
  static const CompilerApi *loaded = nullptr;
  std::lock_guard lock(mutex);
  if (!loaded) {
    INGOT_TRY(loaded, loadCompiler());
  }
  return loaded;
}

Error compilerFailure(const CompilerApi &api, CompilerError &error) {
  bool isKnown = error.kind >= 0 && error.kind <= static_cast<int32_t>(ErrorKind::Internal);
  Error failure(isKnown ? static_cast<ErrorKind>(error.kind) : ErrorKind::Internal,
                error.message ? error.message : "the compiler failed");
  if (error.message)
    api.freeMessage(error.message);
  error.message = nullptr;
  return failure;
}

} // namespace ingot
