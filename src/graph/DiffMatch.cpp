#include "graph/DiffMatch.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

using namespace ingot::graph;

namespace {

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
  return x ^ (x >> 33);
}

uint64_t mixed(uint64_t a, const std::string &text) { return mixed(a, std::hash<std::string>()(text)); }

/// What of a node its hash tells: everything, or the operator alone, so that resized models are matched too.
enum class Detail { Full, Operator };

struct Hashes {
  std::vector<uint64_t> forward;  ///< of the node and all before it
  std::vector<uint64_t> backward; ///< of the node and all after it
  std::vector<uint64_t> both;
};

std::string weightKey(const Side &side, size_t value) {
  const WeightValue &weight = side.flat.weights[value];
  return weight.weight ? weight.weight->name : weight.name;
}

class Matcher {
public:
  Matcher(const Side &first, const Side &second, bool useKeys) : first(first), second(second), matching(first, second) {
    pairInputs();
    if (useKeys)
      pairWeightsByKey();
  }

  Matching run() {
    for (Detail detail : {Detail::Full, Detail::Operator}) {
      Hashes ours = hashes(first, matching.inputs.second, matching.weights.second, detail, true);
      Hashes theirs = hashes(second, matching.inputs.first, matching.weights.first, detail, false);
      pairExact(ours.both, theirs.both);
      pairEqual(ours.both, theirs.both);
      pairEqual(ours.forward, theirs.forward);
      pairEqual(ours.backward, theirs.backward);
    }
    pairByName();
    propagate(/*sameOperator=*/true);
    propagate(/*sameOperator=*/false);
    pairWeightsByUse();
    return std::move(matching);
  }

private:
  void pairInputs();
  void pairWeightsByKey();
  void pairWeightsByUse();
  void pairByName();
  void pairExact(const std::vector<uint64_t> &ours, const std::vector<uint64_t> &theirs);
  void pairEqual(const std::vector<uint64_t> &ours, const std::vector<uint64_t> &theirs);
  void propagate(bool sameOperator);
  bool isAlike(size_t a, size_t b, bool sameOperator) const {
    return matching.nodes.isFree(a, b) && (!sameOperator || first.nodes[a].op == second.nodes[b].op);
  }
  static Hashes hashes(const Side &side, const std::vector<size_t> &inputPartner,
                       const std::vector<size_t> &weightPartner, Detail detail, bool isFirst);

  const Side &first, &second;
  Matching matching;
};

/// By name, and what is left by position.
void Matcher::pairInputs() {
  const std::vector<Tensor> &ours = first.document.graph.inputs, &theirs = second.document.graph.inputs;
  std::unordered_map<std::string, size_t> named;
  for (size_t i = 0; i < theirs.size(); ++i)
    named.emplace(theirs[i].name, i);
  for (size_t i = 0; i < ours.size(); ++i)
    if (auto found = named.find(ours[i].name); found != named.end())
      matching.inputs.pair(i, found->second);
  size_t next = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    while (next < theirs.size() && matching.inputs.first[next] != kUnmatched)
      ++next;
    if (next < theirs.size() && matching.inputs.second[i] == kUnmatched)
      matching.inputs.pair(i, next);
  }
}

void Matcher::pairWeightsByKey() {
  std::unordered_map<std::string, size_t> named;
  for (size_t i = 0; i < second.flat.weights.size(); ++i)
    named.emplace(weightKey(second, i), i);
  for (size_t i = 0; i < first.flat.weights.size(); ++i)
    if (auto found = named.find(weightKey(first, i)); found != named.end())
      matching.weights.pair(i, found->second);
}

void Matcher::pairWeightsByUse() {
  for (size_t a = 0; a < first.nodes.size(); ++a) {
    size_t b = matching.nodes.second[a];
    if (b == kUnmatched)
      continue;
    const std::vector<Link> &ours = first.flat.nodes[a].inputs, &theirs = second.flat.nodes[b].inputs;
    for (size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k)
      if (ours[k].from == Link::From::Weight && theirs[k].from == Link::From::Weight)
        matching.weights.pair(ours[k].index, theirs[k].index);
  }
}

uint64_t labelHash(const CanonicalNode &node, Detail detail) {
  uint64_t hash = mixed(1, node.op);
  if (detail == Detail::Operator)
    return hash;
  for (const auto &[name, value] : node.attributes)
    hash = mixed(mixed(hash, name), value);
  for (const CanonicalOutput &output : node.outputs)
    hash = mixed(mixed(hash, output.shape), output.dtype);
  return hash;
}

Hashes Matcher::hashes(const Side &side, const std::vector<size_t> &inputPartner,
                       const std::vector<size_t> &weightPartner, Detail detail, bool isFirst) {
  size_t count = side.nodes.size();
  Hashes made{std::vector<uint64_t>(count), std::vector<uint64_t>(count), std::vector<uint64_t>(count)};
  // Partners are told by the number that the first document has for them.
  auto partner = [&](const std::vector<size_t> &partners, size_t index) -> uint64_t {
    if (partners[index] == kUnmatched)
      return ~0ull;
    return isFirst ? index : partners[index];
  };
  auto leaf = [&](const Link &link) -> uint64_t {
    if (link.from == Link::From::Input)
      return mixed(2, partner(inputPartner, link.index));
    if (link.from == Link::From::Weight)
      return mixed(3, partner(weightPartner, link.index));
    return 4;
  };
  for (size_t i = 0; i < count; ++i) {
    made.forward[i] = labelHash(side.nodes[i], detail);
    for (const Link &link : side.flat.nodes[i].inputs)
      made.forward[i] = mixed(made.forward[i], link.from == Link::From::Node
                                                   ? mixed(made.forward[link.index], static_cast<uint64_t>(link.output))
                                                   : leaf(link));
  }
  std::vector<uint64_t> asOutput(count, 0);
  for (size_t k = 0; k < side.flat.outputs.size(); ++k)
    if (const Link &link = side.flat.outputs[k]; link.from == Link::From::Node)
      asOutput[link.index] += mixed(mixed(5, k), static_cast<uint64_t>(link.output));
  for (size_t i = count; i-- > 0;) {
    made.backward[i] = mixed(labelHash(side.nodes[i], detail), asOutput[i]);
    uint64_t sum = 0; // users have no order
    for (auto [user, position] : side.users[i])
      sum += mixed(mixed(made.backward[user], position),
                   static_cast<uint64_t>(side.flat.nodes[user].inputs[position].output));
    for (const Link &link : side.flat.nodes[i].inputs)
      if (link.from != Link::From::Node)
        made.backward[i] = mixed(made.backward[i], leaf(link));
    made.backward[i] = mixed(made.backward[i], sum);
    made.both[i] = mixed(made.forward[i], made.backward[i]);
  }
  return made;
}

using Buckets = std::unordered_map<uint64_t, std::deque<size_t>>;

/// Among nodes that look alike the one whose inputs are the partners: equal branches are not mixed up.
void Matcher::pairExact(const std::vector<uint64_t> &ours, const std::vector<uint64_t> &theirs) {
  auto key = [](const std::vector<Link> &links, uint64_t hash, auto partner) {
    for (const Link &link : links)
      if (link.from == Link::From::Node)
        hash = mixed(mixed(hash, partner(link.index)), static_cast<uint64_t>(link.output));
    return hash;
  };
  // Partners of the inputs must be known before their users are asked for, so both sides go by the first one's order.
  std::unordered_map<uint64_t, std::deque<size_t>> byHash;
  for (size_t b = 0; b < theirs.size(); ++b)
    if (matching.nodes.first[b] == kUnmatched)
      byHash[theirs[b]].push_back(b);
  for (size_t a = 0; a < ours.size(); ++a) {
    auto found = byHash.find(ours[a]);
    if (matching.nodes.second[a] != kUnmatched || found == byHash.end())
      continue;
    uint64_t wanted = key(first.flat.nodes[a].inputs, 0, [&](size_t i) { return matching.nodes.second[i]; });
    std::deque<size_t> &candidates = found->second;
    // Long rows of equal nodes are rare; looking at some of them keeps this linear.
    size_t end = std::min<size_t>(candidates.size(), 64);
    for (size_t k = 0; k < end; ++k)
      if (key(second.flat.nodes[candidates[k]].inputs, 0, [](size_t i) { return i; }) == wanted) {
        matching.nodes.pair(a, candidates[k]);
        candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(k));
        break;
      }
  }
}

void Matcher::pairEqual(const std::vector<uint64_t> &ours, const std::vector<uint64_t> &theirs) {
  Buckets buckets;
  for (size_t b = 0; b < theirs.size(); ++b)
    if (matching.nodes.first[b] == kUnmatched)
      buckets[theirs[b]].push_back(b);
  for (size_t a = 0; a < ours.size(); ++a) {
    auto found = buckets.find(ours[a]);
    if (matching.nodes.second[a] != kUnmatched || found == buckets.end() || found->second.empty())
      continue;
    matching.nodes.pair(a, found->second.front());
    found->second.pop_front();
  }
}

void Matcher::pairByName() {
  std::unordered_map<std::string, size_t> named;
  for (size_t b = 0; b < second.nodes.size(); ++b)
    if (matching.nodes.first[b] == kUnmatched)
      named.emplace(second.flat.nodes[b].node->name, b);
  for (size_t a = 0; a < first.nodes.size(); ++a)
    if (auto found = named.find(first.flat.nodes[a].node->name); found != named.end())
      if (isAlike(a, found->second, /*sameOperator=*/true))
        matching.nodes.pair(a, found->second);
}

/// From every pair to what stands before and behind it.
void Matcher::propagate(bool sameOperator) {
  std::deque<size_t> work;
  for (size_t a = 0; a < first.nodes.size(); ++a)
    if (matching.nodes.second[a] != kUnmatched)
      work.push_back(a);
  auto tryPair = [&](size_t a, size_t b) {
    if (isAlike(a, b, sameOperator) && matching.nodes.pair(a, b))
      work.push_back(a);
  };
  for (; !work.empty(); work.pop_front()) {
    size_t a = work.front(), b = matching.nodes.second[a];
    const std::vector<Link> &ours = first.flat.nodes[a].inputs, &theirs = second.flat.nodes[b].inputs;
    for (size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k)
      if (ours[k].from == Link::From::Node && theirs[k].from == Link::From::Node)
        tryPair(ours[k].index, theirs[k].index);
    // A value with very many users tells little about which is which.
    if (first.users[a].size() > 64 || second.users[b].size() > 64)
      continue;
    for (auto [user, position] : first.users[a])
      for (auto [other, otherPosition] : second.users[b])
        if (position == otherPosition)
          tryPair(user, other);
  }
}

} // namespace

Matching::Matching(const Side &first, const Side &second)
    : nodes(first.nodes.size(), second.nodes.size()),
      inputs(first.document.graph.inputs.size(), second.document.graph.inputs.size()),
      weights(first.flat.weights.size(), second.flat.weights.size()) {}

Matching ingot::graph::match(const Side &first, const Side &second, bool useKeys) {
  return Matcher(first, second, useKeys).run();
}

bool ingot::graph::isSameLink(const Matching &matching, const Link &first, const Link &second) {
  if (first.from != second.from || first.output != second.output)
    return false;
  switch (first.from) {
  case Link::From::Node:
    return matching.nodes.second[first.index] == second.index;
  case Link::From::Input:
    return matching.inputs.second[first.index] == second.index;
  case Link::From::Weight:
    return matching.weights.second[first.index] == second.index;
  case Link::From::Unknown:
    return true;
  }
  return false;
}
