// Shared libraries that bring lowerings: what `--plugin` names.
#pragma once

#include "base/Result.h"
#include "compiler/Options.h"
#include "ingot/plugin.h"

#include <deque>
#include <string>
#include <vector>

namespace ingot {

class Plugins {
public:
  /// Opens a library and lets it register. It stays open as long as the process lives: its functions may be anywhere.
  Status load(const std::string &path);

  /// Loads those that the options name and puts their lowerings before the ones that the options have: of two for one
  /// operator the later counts. To be kept as long as the options.
  Status addTo(CompilerOptions &options);

  int32_t add(const ingot_lowering &lowering);
  int32_t fail(std::string message) {
    complaint = std::move(message);
    return INGOT_PLUGIN_FAILED;
  }

private:
  std::deque<std::string> targets;
  std::vector<ingot_lowering> found;
  std::string complaint;
};

} // namespace ingot
