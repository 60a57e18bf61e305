#include "Bind.h"

namespace nb = nanobind;
using namespace ingot;
using namespace ingot::bind;

namespace {

ErrorKind kindOf(ingot_status status) {
  switch (status) {
  case INGOT_ERROR_USAGE:
    return ErrorKind::Usage;
  case INGOT_ERROR_CORRUPT:
    return ErrorKind::Corrupt;
  case INGOT_ERROR_UNSUPPORTED:
    return ErrorKind::Unsupported;
  case INGOT_ERROR_IO:
    return ErrorKind::Io;
  default:
    return ErrorKind::Internal;
  }
}

/// No problem of a kind: somebody has asked for it.
class Cancelled : public Failure {
  using Failure::Failure;
};

const char *className(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Usage:
    return "UsageError";
  case ErrorKind::Corrupt:
    return "CorruptFileError";
  case ErrorKind::Unsupported:
    return "UnsupportedError";
  case ErrorKind::Io:
    return "AssetIOError";
  case ErrorKind::Internal:
    break;
  }
  return "InternalError";
}

void translate(const std::exception_ptr &pointer, void *) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Cancelled &cancelled) {
    PyErr_SetString(nb::module_::import_("ingot.errors").attr("CancelledError").ptr(), cancelled.what());
  } catch (const Failure &failure) {
    nb::object type = nb::module_::import_("ingot.errors").attr(className(failure.kind));
    PyErr_SetString(type.ptr(), failure.what());
  }
}

} // namespace

void bind::check(ingot_status status) {
  if (status == INGOT_ERROR_CANCELLED)
    throw Cancelled(ErrorKind::Usage, ingot_last_error());
  if (status != INGOT_OK)
    throw Failure(kindOf(status), ingot_last_error());
}

void bind::check(const Status &status) {
  if (!status)
    throw Failure(status.error());
}

void bind::initErrors(nb::module_ &) { nb::register_exception_translator(translate); }
