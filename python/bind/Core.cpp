#include "Bind.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>

namespace nb = nanobind;
using namespace ingot;
using namespace ingot::bind;

namespace {

/// As torch.manual_seed takes it: any number of 64 bits, negative ones as what they are in memory.
void setSeed(nb::int_ seed) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(seed.ptr(), &overflow);
  unsigned long long bits = static_cast<unsigned long long>(number);
  if (overflow != 0)
    bits = PyLong_AsUnsignedLongLong(seed.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    throw Failure(ErrorKind::Usage, "a seed is a number from -2^63 to 2^64 - 1");
  }
  ingot_set_seed(bits);
}

/// More than can be had is as many as can be had.
void setNumThreads(nb::int_ count) {
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(count.ptr(), &overflow);
  constexpr long most = std::numeric_limits<int32_t>::max();
  if (overflow != 0)
    ingot_set_num_threads(overflow > 0 ? static_cast<int32_t>(most) : 0);
  else
    ingot_set_num_threads(static_cast<int32_t>(std::clamp(number, 0L, most)));
}

} // namespace

NB_MODULE(_core, module) {
  module.doc() = "Ingot's C interface; use the package `ingot` instead.";
  // PyTorch's registry of custom operators keeps the globals of the user's modules, programs among them, to the end.
  nb::set_leak_warnings(false);
  initErrors(module);
  initBuilder(module);
  initConvert(module);
  initConverted(module);
  initGraph(module);
  initLook(module);
  initModule(module);
  initProgram(module);
  initVerify(module);
  module.def("version", &ingot_version);
  module.def("set_num_threads", &setNumThreads, nb::arg("count"));
  module.def("manual_seed", &setSeed, nb::arg("seed"));
  module.def("get_num_threads", &ingot_get_num_threads);
}
