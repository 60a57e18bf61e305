#include "Bind.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace ingot::bind;

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
  module.def("set_num_threads", &ingot_set_num_threads, nb::arg("count"));
  module.def("manual_seed", &ingot_set_seed, nb::arg("seed"));
  module.def("get_num_threads", &ingot_get_num_threads);
}
