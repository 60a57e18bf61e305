#include "runtime/Random.h"

#include <gtest/gtest.h>

#include <set>

using namespace ingot;

TEST(Random, PhiloxOfZeros) {
  // The published test vector of Philox 4x32-10.
  RandomBits bits({0, 0}, 0);
  std::set<uint64_t> drawn = {bits.bits(), bits.bits()};
  EXPECT_EQ(drawn, (std::set<uint64_t>{0xe169c58d6627e8d5, 0x9b00dbd8bc57ac4c}));
}

TEST(Random, SeedsRepeatAndCallsDiffer) {
  setSeed(7);
  const RandomCall first = RandomCall::next(), second = RandomCall::next();
  EXPECT_NE(RandomBits(first, 3).bits(), RandomBits(second, 3).bits());
  EXPECT_NE(RandomBits(first, 3).bits(), RandomBits(first, 4).bits());
  setSeed(7);
  EXPECT_EQ(RandomBits(RandomCall::next(), 3).bits(), RandomBits(first, 3).bits());
  setSeed(kDefaultSeed);
}

TEST(Random, UniformsStayInside) {
  RandomBits bits({1, 2}, 3);
  for (int i = 0; i < 1000; ++i) {
    const double low = bits.uniform(), high = bits.positiveUniform();
    EXPECT_TRUE(low >= 0 && low < 1 && high > 0 && high <= 1);
  }
}
