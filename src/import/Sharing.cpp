#include "import/Sharing.h"

#include "pt2/SymExpr.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace ingot {
namespace {

using Sizes = std::vector<int64_t>;
using Symbols = std::map<std::string, int64_t, std::less<>>;

/// Symbols up to this are tried for sizes that become 1, as s - 1 does for 2.
constexpr int64_t kMostOffset = 8;

/// Whether a tensor of these sizes and strides can be seen with the sizes `shape` without a copy, as PyTorch decides it:
/// dimensions that lie together may be joined and divided anew.
bool canBeViewedAs(const Sizes &sizes, const Sizes &strides, const Sizes &shape) {
  if (llvm::is_contained(sizes, 0))
    return true;
  auto next = static_cast<int64_t>(shape.size()) - 1;
  // Unsigned: numbers of a file may be of any size, and then nothing fits.
  uint64_t chunk = 1, seen = 1;
  uint64_t chunkStride = strides.empty() ? 1 : strides.back();
  for (auto dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0; --dim) {
    chunk *= sizes[dim];
    if (dim > 0 && (sizes[dim - 1] == 1 || static_cast<uint64_t>(strides[dim - 1]) == chunk * chunkStride))
      continue;
    for (; next >= 0 && (seen < chunk || shape[next] == 1); --next)
      seen *= shape[next];
    if (seen != chunk)
      return false;
    if (dim > 0) {
      chunkStride = strides[dim - 1];
      chunk = seen = 1;
    }
  }
  return true;
}

/// Whether the elements lie as those of the result do: `contiguous` gives back what has the wanted order already.
bool liesAlike(const Sizes &sizes, const Sizes &strides, const Sizes &wanted) {
  if (llvm::is_contained(sizes, 0))
    return true;
  return llvm::all_of(llvm::zip(sizes, strides, wanted), [](auto dim) {
    auto [size, stride, other] = dim;
    return size == 1 || stride == other;
  });
}

/// Numbers of a file may be of any size: they wrap around, and then nothing fits.
Sizes contiguousStrides(const Sizes &sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 1;)
    strides[dim - 1] = static_cast<int64_t>(static_cast<uint64_t>(strides[dim]) * static_cast<uint64_t>(sizes[dim]));
  return strides;
}

uint64_t countOf(const Sizes &sizes) {
  uint64_t count = 1;
  for (int64_t size : sizes)
    count *= static_cast<uint64_t>(size);
  return count;
}

/// An operand and a result with symbols parsed.
class Layouts {
public:
  static std::optional<Layouts> of(const pt2::TensorMeta &operand, const pt2::TensorMeta &result, SharingRule rule) {
    Layouts layouts(rule);
    bool isKnown = layouts.parse(operand.sizes, layouts.sizes) && layouts.parse(operand.strides, layouts.strides) &&
                   layouts.parse(result.sizes, layouts.shape) && layouts.parse(result.strides, layouts.wanted) &&
                   layouts.sizes.size() == layouts.strides.size() &&
                   (rule != SharingRule::Contiguous || layouts.sizes.size() == layouts.wanted.size());
    return isKnown ? std::optional(std::move(layouts)) : std::nullopt;
  }

  const std::set<std::string> &symbols() const { return names; }

  /// Whether memory is shared when symbols have these values; nothing where sizes then do not fit.
  std::optional<bool> sharesFor(const Symbols &values) const {
    return shares([&](const Item &item) { return valueOf(item, values); });
  }

  /// Adds the sizes of the operand that change the answer of a sample where they are 1.
  void addNotOne(const Symbols &sample, bool answer, std::vector<std::string> &notOne) const {
    for (const auto &[name, size] : sample)
      for (int64_t small = 1; small <= kMostOffset; ++small) {
        Symbols other = sample;
        other[name] = small;
        std::optional<bool> there = sharesFor(other);
        if (!there || *there == answer)
          continue;
        for (const Item &item : sizes)
          if (valueOf(item, other) == 1 && valueOf(item, sample) != 1)
            if (std::string text = pt2::printSymExpr(item.expr); !llvm::is_contained(notOne, text))
              notOne.push_back(std::move(text));
      }
  }

  /// Likewise for the sizes of the export's example.
  std::optional<bool> sharesInExample() const {
    return shares([](const Item &item) { return item.example; });
  }

private:
  struct Item {
    pt2::SymExpr expr;
    std::optional<int64_t> example;
  };
  using Items = std::vector<Item>;

  static std::optional<int64_t> valueOf(const Item &item, const Symbols &values) {
    auto lookup = [&](std::string_view name) -> std::optional<pt2::SymValue> {
      auto it = values.find(name);
      return it == values.end() ? std::nullopt : std::optional<pt2::SymValue>(it->second);
    };
    Result<int64_t> value = pt2::evaluateSymInt(item.expr, lookup);
    return value ? std::optional(*value) : std::nullopt;
  }

  explicit Layouts(SharingRule rule) : rule(rule) {}

  bool parse(const std::vector<pt2::SymInt> &from, Items &items) {
    for (const pt2::SymInt &number : from) {
      if (number.isConcrete()) {
        items.push_back({pt2::SymExpr::makeInteger(number.concrete()), number.concrete()});
        continue;
      }
      Result<pt2::SymExpr> expr = pt2::parseSymExpr(number.expr().text);
      if (!expr)
        return false;
      pt2::collectSymbols(*expr, names);
      const auto *hint = std::get_if<int64_t>(&number.expr().hint);
      items.push_back({std::move(*expr), hint ? std::optional(*hint) : std::nullopt});
    }
    return true;
  }

  template <typename Function> std::optional<bool> shares(Function &&valueOf) const {
    auto all = [&](const Items &items) -> std::optional<Sizes> {
      Sizes values;
      for (const Item &item : items) {
        std::optional<int64_t> value = valueOf(item);
        if (!value || *value < 0)
          return std::nullopt;
        values.push_back(*value);
      }
      return values;
    };
    std::optional<Sizes> from = all(sizes), lying = all(strides), to = all(shape), order = all(wanted);
    if (!from || !lying || !to || !order || countOf(*from) != countOf(*to))
      return std::nullopt;
    switch (rule) {
    case SharingRule::Reshape:
      return canBeViewedAs(*from, *lying, *to);
    case SharingRule::Contiguous:
      return liesAlike(*from, *lying, *order);
    case SharingRule::Ravel:
      return liesAlike(*from, *lying, contiguousStrides(*from));
    }
    return std::nullopt;
  }

  Items sizes, strides, shape, wanted; ///< of the operand, and of the result
  std::set<std::string> names;
  SharingRule rule;
};

/// Different sizes for all symbols, with many divisors in the first two.
std::vector<Symbols> samplesOf(const std::set<std::string> &names) {
  std::vector<Symbols> samples(3);
  int64_t number = 2;
  for (const std::string &name : names) {
    samples[0][name] = 24 * number;
    samples[1][name] = 60 * (number + 3);
    samples[2][name] = (24 * number) + 1;
    ++number;
  }
  return samples;
}

} // namespace

std::optional<Sharing> sharingOf(const pt2::TensorMeta &operand, const pt2::TensorMeta &result, SharingRule rule) {
  std::optional<Layouts> layouts = Layouts::of(operand, result, rule);
  if (!layouts)
    return std::nullopt;
  std::optional<bool> answer = layouts->sharesInExample();
  std::vector<Symbols> samples = samplesOf(layouts->symbols());
  Sharing sharing;
  for (const Symbols &sample : samples) {
    std::optional<bool> here = layouts->sharesFor(sample);
    if (here && answer.value_or(*here) != *here)
      return Sharing{Sharing::Answer::Varies, {}};
    if (here)
      answer = here;
    if (here)
      layouts->addNotOne(sample, *here, sharing.notOne);
  }
  if (!answer)
    return std::nullopt;
  sharing.answer = *answer ? Sharing::Answer::Yes : Sharing::Answer::No;
  return sharing;
}

} // namespace ingot
