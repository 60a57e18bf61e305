#include "plugins/Plugins.h"

#include <dlfcn.h>

namespace ingot {

int32_t Plugins::add(const ingot_lowering &lowering) {
  std::string target = lowering.target ? lowering.target : "";
  size_t colons = target.find("::");
  if (!lowering.lower || colons == std::string::npos || colons == 0 || colons + 2 == target.size())
    return fail("a lowering needs a function and a name like namespace::op.overload, not '" + target + "'");
  names.push_back(std::move(target));
  loweringRows.push_back({names.back().c_str(), lowering.lower, lowering.user});
  return INGOT_PLUGIN_OK;
}

int32_t Plugins::add(const ingot_converter &converter) {
  std::string pattern = converter.pattern ? converter.pattern : "";
  if (!converter.convert || pattern.empty())
    return fail("a converter needs a function and the name of an operator, not '" + pattern + "'");
  names.push_back(std::move(pattern));
  converterRows.push_back({names.back().c_str(), converter.convert, converter.user});
  return INGOT_PLUGIN_OK;
}

Status Plugins::load(const std::string &path) {
  // A bare name would be looked for in the system's folders.
  std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  void *library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return ioError("the plugin '" + path + "' cannot be loaded: " + dlerror());
  auto start = reinterpret_cast<ingot_plugin_register_fn>(dlsym(library, "ingot_plugin_register"));
  if (!start)
    return usageError("'" + path + "' is no plugin of Ingot: it exports no ingot_plugin_register");
  const ingot_plugin_api api = {
      INGOT_PLUGIN_VERSION, reinterpret_cast<ingot_registry *>(this),
      [](ingot_registry *registry, const ingot_lowering *lowering) { return of(registry).add(*lowering); },
      [](ingot_registry *registry, const char *message) { return of(registry).fail(message); },
      [](ingot_registry *registry, const ingot_converter *converter) { return of(registry).add(*converter); }};
  complaint.clear();
  int32_t code = start(&api);
  if (code != INGOT_PLUGIN_OK || !complaint.empty())
    return usageError("the plugin '" + path + "' refuses: " + (complaint.empty() ? "it does not say why" : complaint));
  return {};
}

} // namespace ingot
