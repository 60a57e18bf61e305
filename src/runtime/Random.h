// Random numbers of the process: one seed, and a count of the calls that have drawn since it was set. Every number is a
// function of the seed, its call and its place, so that neither threads nor their number matter.
#pragma once

#include <array>
#include <cstdint>

namespace ingot {

/// What PyTorch's default generator starts from.
inline constexpr uint64_t kDefaultSeed = 67280421310721;

/// The calls that follow draw what they drew after the last time this seed was set.
void setSeed(uint64_t seed);

/// Where one call draws from.
struct RandomCall {
  uint64_t seed, call;

  static RandomCall next();
};

/// The bits of one element: block 0, 1, … of Philox 4x32 with ten rounds (Salmon et al., 2011).
class RandomBits {
public:
  RandomBits(const RandomCall &call, uint64_t element) : call(call), element(element) {}

  uint64_t bits();
  /// In [0, 1), with 53 bits.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  /// In (0, 1]: safe to take the logarithm of.
  double positiveUniform() { return static_cast<double>((bits() >> 11) + 1) * 0x1.0p-53; }
  /// Two independent numbers with mean 0 and standard deviation 1.
  std::array<double, 2> normals();

private:
  RandomCall call;
  uint64_t element;
  uint32_t block = 0;
  std::array<uint64_t, 2> left{};
  int count = 0; ///< of those in `left`
};

} // namespace ingot
