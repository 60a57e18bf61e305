#include "Bind.h"

#include "base/Message.h"

#include <cstring>
#include <unistd.h>

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

/// Messages may quote names of files, which need be no text.
void raise(const char *type, const char *message) {
  if (PyErr_Occurred()) // what a signal's handler raised, which has ended the call
    return;
  nb::object text =
      nb::steal(PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "backslashreplace"));
  PyErr_SetString(nb::module_::import_("ingot.errors").attr(type).ptr(),
                  messageText(nb::cast<std::string>(text)).c_str());
}

void translate(const std::exception_ptr &pointer, void *) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Cancelled &cancelled) {
    raise("CancelledError", cancelled.what());
  } catch (const Failure &failure) {
    raise(className(failure.kind), failure.what());
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

/// Python notes signals, and handles them on its main thread when that has time. A handler's exception stays set there
/// until the call has ended.
static int32_t runSignalHandlers() {
  if (::gettid() != ::getpid() || !Py_IsInitialized())
    return 0;
  nb::gil_scoped_acquire held;
  return PyErr_CheckSignals();
}

void bind::initErrors(nb::module_ &) {
  nb::register_exception_translator(translate);
  ingot_set_interrupt_check(runSignalHandlers);
}
