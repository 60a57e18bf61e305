// What the files of ingot._core share.
#pragma once

#include "base/Result.h"
#include "ingot/ingot.h"

#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <unistd.h>

namespace ingot::bind {

/// An error on its way to Python, where it becomes an exception of ingot.errors.
class Failure : public std::exception {
public:
  Failure(ErrorKind kind, std::string message) : kind(kind), message(std::move(message)) {}
  explicit Failure(const Error &error) : Failure(error.kind, error.str()) {}

  const char *what() const noexcept override { return message.c_str(); }

  ErrorKind kind;

private:
  std::string message;
};

/// Lets other threads of Python run. Where the interpreter has ended meanwhile, the thread stays here for ever: Python
/// would end it by unwinding, which must not pass through C++.
class GilRelease {
public:
  GilRelease() : state(PyEval_SaveThread()) {}
  ~GilRelease() {
    try {
      PyEval_RestoreThread(state);
    } catch (...) {
      for (;;)
        ::pause();
    }
  }
  GilRelease(const GilRelease &) = delete;
  GilRelease &operator=(const GilRelease &) = delete;

private:
  PyThreadState *state;
};

/// A path as Python's own functions take it: text, bytes, or what has __fspath__. Its bytes need be no text.
struct FilePath {
  std::string bytes;

  const char *c_str() const { return bytes.c_str(); }
};

/// Throws unless the C interface succeeded.
void check(ingot_status status);
void check(const Status &status);

void initErrors(nanobind::module_ &module);
void initGraph(nanobind::module_ &module);
void initBuilder(nanobind::module_ &module);
void initConvert(nanobind::module_ &module);
void initConverted(nanobind::module_ &module);
void initLook(nanobind::module_ &module);
void initModule(nanobind::module_ &module);
void initProgram(nanobind::module_ &module);
void initVerify(nanobind::module_ &module);

} // namespace ingot::bind

template <> struct nanobind::detail::type_caster<ingot::bind::FilePath> {
  NB_TYPE_CASTER(ingot::bind::FilePath, const_name("str"))

  bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
    PyObject *bytes = nullptr;
    if (!PyUnicode_FSConverter(source.ptr(), &bytes)) {
      PyErr_Clear();
      return false;
    }
    value.bytes.assign(PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
    Py_DECREF(bytes);
    return true;
  }
};
