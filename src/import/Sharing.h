// Whether the result of a node that is a view where it can be, and a copy elsewhere, shares memory with its operand.
#pragma once

#include "pt2/Graph.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot {

struct Sharing {
  enum class Answer { No, Yes, Varies }; ///< Varies: it follows from the sizes of a call
  Answer answer = Answer::No;
  std::vector<std::string> notOne; ///< sizes that give another answer where they are 1: symbols, or s0 - 1
};

/// Of `contiguous`, or of `reshape` and its like, from the strides that the program was exported with; nothing where these
/// are not known. Sizes that are symbols are taken to be more than 1, as exports do.
std::optional<Sharing> sharingOf(const pt2::TensorMeta &operand, const pt2::TensorMeta &result, bool isContiguousCall);

} // namespace ingot
