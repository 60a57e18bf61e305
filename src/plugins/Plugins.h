// Shared libraries that bring lowerings and converters: what `--plugin` names.
#pragma once

#include "base/Result.h"
#include "ingot/plugin.h"

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace ingot {

/// What the libraries registered. The texts in the rows live as long as this does.
class Plugins {
public:
  /// Opens a library and lets it register. It stays open as long as the process lives: its functions may be anywhere.
  Status load(const std::string &path);

  /// In the order of registration: of two for one operator the later counts.
  std::span<const ingot_lowering> lowerings() const { return loweringRows; }
  std::span<const ingot_converter> converters() const { return converterRows; }

private:
  int32_t add(const ingot_lowering &lowering);
  int32_t add(const ingot_converter &converter);
  int32_t fail(std::string message) {
    complaint = std::move(message);
    return INGOT_PLUGIN_FAILED;
  }
  static Plugins &of(ingot_registry *registry) { return *reinterpret_cast<Plugins *>(registry); }

  std::deque<std::string> names;
  std::vector<ingot_lowering> loweringRows;
  std::vector<ingot_converter> converterRows;
  std::string complaint;
};

} // namespace ingot
