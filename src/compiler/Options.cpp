#include "compiler/Options.h"

#include "base/Json.h"

namespace ingot {

static Result<Phase> parsePhase(const std::string &name) {
  if (std::optional<Phase> phase = phaseFromName(name))
    return *phase;
  std::string names;
  for (std::string_view known : kPhaseNames)
    names += (names.empty() ? "" : ", ") + std::string(known);
  return usageError("there is no phase `" + name + "`; phases are " + names);
}

static Error wrongType(const std::string &key, const char *expected) {
  return usageError("option `" + key + "` must be " + expected);
}

static Result<std::vector<std::string>> readStrings(const std::string &key, const nlohmann::json &value,
                                                    const char *expected) {
  std::vector<std::string> strings;
  if (!value.is_array())
    return wrongType(key, expected);
  for (const nlohmann::json &item : value) {
    if (!item.is_string())
      return wrongType(key, expected);
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

/// The option's place; null if it is no flag.
static bool *findFlag(CompilerOptions &options, const std::string &key) {
  if (key == "specialise")
    return &options.specialise;
  if (key == "keep_paths")
    return &options.pipeline.keepPaths;
  if (key == "composites")
    return &options.pipeline.composites;
  if (key == "by_torch")
    return &options.pipeline.byTorch;
  if (key == "time_passes")
    return &options.pipeline.timePasses;
  return key == "fallback" ? &options.pipeline.fallback : nullptr;
}

static Status setOption(CompilerOptions &options, const std::string &key, const nlohmann::json &value) {
  if (bool *flag = findFlag(options, key)) {
    if (!value.is_boolean())
      return wrongType(key, "true or false");
    *flag = value.get<bool>();
    return {};
  }
  if (key == "stop_after" || key == "dump_ir" || key == "program") {
    if (!value.is_string())
      return wrongType(key, "a string");
    if (key != "stop_after") {
      (key == "dump_ir" ? options.pipeline.dumpFolder : options.program) = value.get<std::string>();
      return {};
    }
    INGOT_TRY(options.pipeline.stopAfter, parsePhase(value.get<std::string>()));
    return {};
  }
  if (key == "disable_passes") {
    INGOT_TRY(std::vector<std::string> names, readStrings(key, value, "a list of pass names"));
    options.pipeline.disabledPasses.insert(names.begin(), names.end());
    return {};
  }
  if (key == "schemas") {
    INGOT_TRY(options.pipeline.schemas, readStrings(key, value, "a list of operator schemas"));
    return {};
  }
  if (key == "weights") {
    INGOT_TRY(options.weightFiles, readStrings(key, value, "a list of paths"));
    return {};
  }
  if (key == "plugins") {
    INGOT_TRY(options.plugins, readStrings(key, value, "a list of paths"));
    return {};
  }
  if (key == "rewrite") {
    INGOT_TRY(options.rewrite, pt2::rewriteFromJson(value));
    return {};
  }
  return usageError("there is no option `" + key + "`");
}

Result<CompilerOptions> parseOptions(const char *json) {
  CompilerOptions options;
  if (!json || !*json)
    return options;
  INGOT_TRY(nlohmann::json object, parseJson(json));
  if (!object.is_object())
    return usageError("options must be a JSON object");
  for (const auto &[key, value] : object.items())
    INGOT_CHECK(setOption(options, key, value));
  return options;
}

Status loadPlugins(CompilerOptions &options, Plugins &plugins) {
  for (const std::string &path : options.plugins)
    INGOT_CHECK(plugins.load(path));
  std::vector<ingot_lowering> &all = options.pipeline.lowerings;
  all.insert(all.begin(), plugins.lowerings().begin(), plugins.lowerings().end());
  return {};
}

} // namespace ingot
