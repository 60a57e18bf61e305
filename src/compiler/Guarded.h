// The boundary of the library: no exception passes, errors become a kind and a message.
#pragma once

#include "base/Message.h"
#include "runtime/CompilerApi.h"

#include <cstring>
#include <exception>
#include <new>

namespace ingot {

inline bool report(CompilerError *error, const Error &problem) {
  error->kind = static_cast<int32_t>(problem.kind);
  error->message = strdup(messageText(problem.str()).c_str());
  return false;
}

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
  return status ? true : report(error, status.error());
}

} // namespace ingot
