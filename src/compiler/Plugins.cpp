#include "compiler/Plugins.h"

#include <dlfcn.h>

namespace ingot {

static Plugins &pluginsOf(ingot_registry *registry) { return *reinterpret_cast<Plugins *>(registry); }

int32_t Plugins::add(const ingot_lowering &lowering) {
  std::string target = lowering.target ? lowering.target : "";
  size_t colons = target.find("::");
  if (!lowering.lower || colons == std::string::npos || colons == 0 || colons + 2 == target.size())
    return fail("a lowering needs a function and a name like namespace::op.overload, not '" + target + "'");
  targets.push_back(std::move(target));
  found.push_back({targets.back().c_str(), lowering.lower, lowering.user});
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
      [](ingot_registry *registry, const ingot_lowering *lowering) { return pluginsOf(registry).add(*lowering); },
      [](ingot_registry *registry, const char *message) { return pluginsOf(registry).fail(message); }};
  complaint.clear();
  int32_t code = start(&api);
  if (code != INGOT_PLUGIN_OK || !complaint.empty())
    return usageError("the plugin '" + path + "' refuses: " + (complaint.empty() ? "it does not say why" : complaint));
  return {};
}

Status Plugins::addTo(CompilerOptions &options) {
  for (const std::string &plugin : options.plugins)
    INGOT_CHECK(load(plugin));
  std::vector<ingot_lowering> &all = options.pipeline.lowerings;
  all.insert(all.begin(), found.begin(), found.end());
  return {};
}

} // namespace ingot
