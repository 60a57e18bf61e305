// Which node of one document is which of the other.
#pragma once

#include "graph/DiffSide.h"

namespace ingot::graph {

inline constexpr size_t kUnmatched = static_cast<size_t>(-1);

/// Partners of one kind of thing, both ways.
struct Pairing {
  Pairing(size_t firstCount, size_t secondCount) : second(firstCount, kUnmatched), first(secondCount, kUnmatched) {}

  bool isFree(size_t a, size_t b) const { return second[a] == kUnmatched && first[b] == kUnmatched; }
  bool pair(size_t a, size_t b) {
    if (!isFree(a, b))
      return false;
    second[a] = b;
    first[b] = a;
    return true;
  }

  std::vector<size_t> second; ///< of every thing of the first document
  std::vector<size_t> first;  ///< of every thing of the second
};

struct Matching {
  Matching(const Side &first, const Side &second);

  Pairing nodes, inputs, weights; ///< weights as values of the graph (Flat::weights)
};

/// Weights with the same key are the same, others are found by who uses them. Without `useKeys` all are found so.
Matching match(const Side &first, const Side &second, bool useKeys);

/// Whether the two links say the same under the matching.
bool isSameLink(const Matching &matching, const Link &first, const Link &second);

} // namespace ingot::graph
