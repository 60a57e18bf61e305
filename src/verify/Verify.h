// Compares a program's run in Ingot with eager, node by node, and finds the first node that departs.
#pragma once

#include "verify/Report.h"
#include "verify/Runner.h"

#include <functional>
#include <optional>

namespace ingot::verify {

/// Eager: what the taps show, by key. The same numbers at every call, random ones included.
using Eager = std::function<Result<Values>(const std::vector<pt2::Tap> &taps)>;

struct Options {
  bool perNode = true;                       ///< else the outputs alone
  bool bisect = false;                       ///< few runs of the whole program, few values at a time
  std::optional<Tolerance> tolerance;        ///< of floats
  std::string saveTo;                        ///< folder for the operands of the node that departs
  uint64_t chunkBytes = uint64_t(512) << 20; ///< values that are kept at once
  std::function<void(const std::string &what, size_t done, size_t total)> progress;
};

/// `eager` may be missing: then PyTorch's library runs every node.
Result<Report> verify(const pt2::Program &program, Runner &runner, const Eager &eager, const Options &options);

} // namespace ingot::verify
