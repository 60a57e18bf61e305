// The weights of all programs that are converted together. What lies at one place in memory has one key, so that
// tied weights, and entry points of one model, share it.
#pragma once

#include "base/Result.h"
#include "pt2/Archive.h"

#include <map>
#include <string>
#include <vector>

namespace ingot {

class WeightTable {
public:
  /// The key of the `ingot.weight` behind a parameter, buffer or constant of `program`: its name, after `prefix`; with a
  /// number where another weight has that name.
  Result<std::string> add(const pt2::Program &program, const pt2::InputSpec &input, const std::string &prefix = "");
  /// Null for keys that were never given out.
  const pt2::Weight *find(const std::string &key) const;
  /// The other keys whose weights have memory in common with this one.
  std::vector<std::string> neighbours(const std::string &key) const;

private:
  std::map<std::string, const pt2::Weight *> byKey;
  std::multimap<const void *, std::string> byPlace; ///< keys by the address of their storage
};

} // namespace ingot
