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

/// What decides: `reshape` and its like copy where no view has the new sizes, `contiguous` where the elements lie in another order
/// than it wants, `ravel` where they are not contiguous.
enum class SharingRule { Reshape, Contiguous, Ravel };

/// From the strides that the program was exported with; nothing where these
/// are not known. Sizes that are symbols are taken to be more than 1, as exports do.
std::optional<Sharing> sharingOf(const pt2::TensorMeta &operand, const pt2::TensorMeta &result, SharingRule rule);

} // namespace ingot
