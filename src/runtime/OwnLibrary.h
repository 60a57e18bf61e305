// Libraries of Ingot's own that lie beside this one and are loaded only when they are needed.
#pragma once

#include "base/Result.h"

#include <dlfcn.h>
#include <string>

namespace ingot {

/// The folder this library was loaded from, with a slash; empty if unknown.
inline std::string ownFolder() {
  static const char anchor = 0;
  Dl_info info{};
  if (!dladdr(&anchor, &info) || !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

/// The table of functions that `symbol` of an opened library gives, which must have this version.
template <typename Api>
Result<const Api *> apiOf(void *library, const char *symbol, decltype(Api::version) version, const std::string &path) {
  auto *getApi = reinterpret_cast<const Api *(*)()>(dlsym(library, symbol));
  const Api *api = getApi ? getApi() : nullptr;
  if (!api || api->version != version)
    return unsupportedError("'" + path + "' belongs to another version of Ingot");
  return api;
}

/// What a call through such a table says went wrong; takes the message's memory.
template <typename Api, typename ApiError> Error apiFailure(const Api &api, ApiError &error, const char *unnamed) {
  bool isKnown = error.kind >= 0 && error.kind <= static_cast<int32_t>(ErrorKind::Internal);
  Error failure(isKnown ? static_cast<ErrorKind>(error.kind) : ErrorKind::Internal,
                error.message ? error.message : unnamed);
  if (error.message)
    api.freeMessage(error.message);
  error.message = nullptr;
  return failure;
}

} // namespace ingot
