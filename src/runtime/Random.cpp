#include "runtime/Random.h"

#include "base/ForkSafeMutex.h"

#include <cmath>
#include <numbers>

namespace ingot {

namespace {

struct Generator {
  ForkSafeMutex mutex;
  RandomCall next{kDefaultSeed, 0};
};

Generator &generator() {
  static Generator instance;
  return instance;
}

using Words = std::array<uint32_t, 4>;

Words philox(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t(0xD2511F53u) * counter[0];
    const uint64_t second = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(first)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

} // namespace

void setSeed(uint64_t seed) {
  std::lock_guard lock(generator().mutex);
  generator().next = {seed, 0};
}

RandomCall RandomCall::next() {
  std::lock_guard lock(generator().mutex);
  RandomCall call = generator().next;
  ++generator().next.call;
  return call;
}

uint64_t RandomBits::bits() {
  if (count == 0) {
    const Words counter = {static_cast<uint32_t>(element), static_cast<uint32_t>(element >> 32), block++,
                           static_cast<uint32_t>(call.call)};
    const uint64_t key = call.seed ^ (call.call >> 32 << 32);
    const Words words = philox(counter, static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32));
    left = {uint64_t(words[1]) << 32 | words[0], uint64_t(words[3]) << 32 | words[2]};
    count = 2;
  }
  return left[static_cast<size_t>(--count)];
}

std::array<double, 2> RandomBits::normals() {
  const double radius = std::sqrt(-2 * std::log(positiveUniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

} // namespace ingot
