// The steps of the flow, in order. A run can be stopped after any of them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace ingot {

enum class Phase {
  Import,        ///< nodes of the exported program, 1:1, as carrier ops
  Functionalise, ///< in-place nodes made pure, mutations made state
  Lower,         ///< carrier ops replaced by ingot ops; none is left
  Optimise,      ///< what holds on every machine: folding, common sub-expressions. Saved in the asset
  Fuse,          ///< clusters formed
  Codegen,       ///< clusters compiled for this CPU
  Plan,          ///< steps for the runtime
};

inline constexpr std::array<std::string_view, 7> kPhaseNames = {"import", "functionalise", "lower", "optimise",
                                                                "fuse",   "codegen",       "plan"};

constexpr std::string_view phaseName(Phase phase) { return kPhaseNames[static_cast<size_t>(phase)]; }

constexpr std::optional<Phase> phaseFromName(std::string_view name) {
  for (size_t i = 0; i < kPhaseNames.size(); ++i)
    if (kPhaseNames[i] == name)
      return static_cast<Phase>(i);
  return std::nullopt;
}

} // namespace ingot
