#include "runtime/KernelLibrary.h"

#include <dlfcn.h>

namespace ingot {

KernelLibrary::~KernelLibrary() {
  if (handle)
    dlclose(handle);
}

Status KernelLibrary::open(const std::string &path) {
  // Every function is resolved now: a missing one must not end the process in the middle of a call.
  // A name without a slash would be searched for in the system's folders.
  std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return corruptError("the program's kernels cannot be loaded: " + std::string(dlerror()));
  return {};
}

void *KernelLibrary::find(const std::string &symbol) const {
  // The names that codegen gives. Others, such as `exit`, would be found in the libraries that this one needs.
  bool isOurs = symbol.starts_with("k_") || symbol.starts_with("c_");
  return handle && isOurs ? dlsym(handle, symbol.c_str()) : nullptr;
}

} // namespace ingot
