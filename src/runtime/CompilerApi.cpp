#include "runtime/CompilerApi.h"

#include "base/ForkSafeMutex.h"
#include "runtime/OwnLibrary.h"

#include <string>

namespace ingot {
namespace {

constexpr const char *kLibraryName = "libingot_compiler.so";

Result<const CompilerApi *> loadCompiler() {
  std::string path = ownFolder() + kLibraryName;
  // Local symbols: LLVM's must not meet those of another library in the process.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return unsupportedError("this needs Ingot's compiler, which cannot be loaded: " + std::string(dlerror()) +
                            "\n  install the compiler, or prepare the asset where it is installed and copy it here "
                            "with its cache folder");
  return apiOf<CompilerApi>(library, "ingot_compiler_api", kCompilerApiVersion, path);
}

} // namespace

Result<const CompilerApi *> compilerApi() {
  static ForkSafeMutex mutex;
  static const CompilerApi *loaded = nullptr;
  std::lock_guard lock(mutex);
  if (!loaded) {
    INGOT_TRY(loaded, loadCompiler());
  }
  return loaded;
}

Error compilerFailure(const CompilerApi &api, CompilerError &error) {
  return apiFailure(api, error, "the compiler failed");
}

} // namespace ingot
