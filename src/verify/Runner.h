// Runs a program that is rewritten first, in Ingot or, node by node, in PyTorch.
#pragma once

#include "base/Json.h"
#include "base/Result.h"
#include "pt2/Rewrite.h"
#include "verify/Value.h"

#include <functional>
#include <string>
#include <vector>

namespace ingot::verify {

/// Saves the asset of the program at a path, with these options in addition to the caller's: "rewrite" and "by_torch".
using Convert = std::function<Status(const std::string &path, const nlohmann::json &options)>;

class Runner {
public:
  /// `inputs`: the user's, by name. Assets need `fallback` where the caller's options let nodes stay.
  Runner(Convert convert, Values inputs) : convert(std::move(convert)), inputs(std::move(inputs)) {}

  enum class Side { Ingot, Torch };
  /// What the taps of the rewriting show, by key. `more` are values that the rewritten program takes, by key.
  Result<Values> run(pt2::Rewrite rewrite, Side side, const Values &more = {});

  /// Runs a body of a node of this program, with inputs of its own.
  Runner inside(const pt2::Enter &enter, Values values) const;

  size_t runs() const { return count; }

private:
  Convert convert;
  Values inputs;
  std::vector<pt2::Enter> entered;
  size_t count = 0;
};

} // namespace ingot::verify
