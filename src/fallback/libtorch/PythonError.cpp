#include "fallback/libtorch/PythonError.h"

#include <dlfcn.h>

namespace ingot::fallback {
namespace {

// The few functions of Python's stable interface that are needed. The plugin also runs in processes without Python, so
// they are looked up instead of linked.
struct Python {
  using Object = void *;
  int (*isInitialized)();
  int (*ensure)();
  void (*release)(int);
  void (*fetch)(Object *type, Object *value, Object *trace);
  void (*normalize)(Object *type, Object *value, Object *trace);
  Object (*str)(Object);
  Object (*attribute)(Object, const char *);
  const char *(*utf8)(Object);
  void (*decref)(Object);
  void (*clear)();
  void (*restore)(Object type, Object value, Object trace);
  int (*matches)(Object type, Object expected);
  Object *exception; ///< the class of all that is no wish to end
  Object *interrupt;
  void (*set)(Object type);

  bool find() {
    bool found = true;
    auto get = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
      found &= function != nullptr;
    };
    get(isInitialized, "Py_IsInitialized");
    get(ensure, "PyGILState_Ensure");
    get(release, "PyGILState_Release");
    get(fetch, "PyErr_Fetch");
    get(normalize, "PyErr_NormalizeException");
    get(str, "PyObject_Str");
    get(attribute, "PyObject_GetAttrString");
    get(utf8, "PyUnicode_AsUTF8");
    get(decref, "Py_DecRef");
    get(clear, "PyErr_Clear");
    get(restore, "PyErr_Restore");
    get(matches, "PyErr_GivenExceptionMatches");
    get(exception, "PyExc_Exception");
    get(interrupt, "PyExc_KeyboardInterrupt");
    get(set, "PyErr_SetNone");
    return found && isInitialized() != 0;
  }

  std::string text(Object object) {
    Object asText = object ? str(object) : nullptr;
    const char *bytes = asText ? utf8(asText) : nullptr;
    std::string result = bytes ? bytes : "";
    decref(asText);
    return result;
  }
};

} // namespace

std::string takePythonError() {
  Python python{};
  if (!python.find())
    return "";
  int state = python.ensure();
  Python::Object type = nullptr, value = nullptr, trace = nullptr;
  python.fetch(&type, &value, &trace);
  std::string message;
  if (type) {
    python.normalize(&type, &value, &trace);
    Python::Object name = python.attribute(type, "__name__");
    message = python.text(name) + ": " + python.text(value);
    python.decref(name);
    python.clear();
    if (python.matches(type, *python.exception) == 0) {
      python.restore(type, value, trace); // KeyboardInterrupt and its like go on where Python called us
    } else {
      for (Python::Object object : {type, value, trace})
        python.decref(object);
    }
  }
  python.release(state);
  return message;
}

void leaveInterrupt() {
  Python python{};
  if (!python.find())
    return;
  const int state = python.ensure();
  python.set(*python.interrupt);
  python.release(state);
}

} // namespace ingot::fallback
