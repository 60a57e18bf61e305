// The boundary of the library: no exception passes, errors become a kind and a message.
#pragma once

#include "base/Result.h"
#include "runtime/CompilerApi.h"

#include <cstring>
#include <new>

namespace ingot {

template <typename Work> bool guarded(CompilerError *error, Work work) {
  Status status = [&]() -> Status {
    try {
      return work();
    } catch (const std::bad_alloc &) {
      return ioError("out of memory");
    } catch (const std::exception &e) {
      return internalError(e.what());
    }
  }();
  if (status)
    return true;
  error->kind = static_cast<int32_t>(status.error().kind);
  error->message = strdup(status.error().str().c_str());
  return false;
}

} // namespace ingot
