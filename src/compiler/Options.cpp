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

static Status setOption(CompilerOptions &options, const std::string &key, const nlohmann::json &value) {
  if (key == "specialise" || key == "time_passes") {
    if (!value.is_boolean())
      return wrongType(key, "true or false");
    (key == "specialise" ? options.specialise : options.pipeline.timePasses) = value.get<bool>();
    return {};
  }
  if (key == "stop_after" || key == "dump_ir") {
    if (!value.is_string())
      return wrongType(key, "a string");
    if (key == "dump_ir") {
      options.pipeline.dumpFolder = value.get<std::string>();
      return {};
    }
    INGOT_TRY(options.pipeline.stopAfter, parsePhase(value.get<std::string>()));
    return {};
  }
  if (key == "disable_passes") {
    if (!value.is_array())
      return wrongType(key, "a list of pass names");
    for (const nlohmann::json &name : value) {
      if (!name.is_string())
        return wrongType(key, "a list of pass names");
      options.pipeline.disabledPasses.insert(name.get<std::string>());
    }
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

} // namespace ingot
