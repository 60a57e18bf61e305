#include "base/Hash.h"

#include <gtest/gtest.h>

using namespace ingot;

namespace {

// Reference values of XXH3-128 (seed 0): caches on disk depend on them.
TEST(Hash, IsStable) {
  EXPECT_EQ(hashText("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hashText("a").hex(), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(hashBytes({}), hashText(""));
}

TEST(Hash, JoinsPieces) {
  std::string text(5000, 'x');
  Hasher hasher;
  for (size_t at = 0; at < text.size(); at += 777)
    hasher.add(std::string_view(text).substr(at, 777));
  EXPECT_EQ(hasher.finish(), hashText(text));
  Hasher moved = std::move(hasher);
  moved.add(uint64_t(1));
  EXPECT_NE(moved.finish(), hashText(text));
}

TEST(Hash, ParsesItsOwnText) {
  Hash128 hash = hashText("ingot");
  EXPECT_EQ(Hash128::fromHex(hash.hex()), hash);
  EXPECT_FALSE(Hash128::fromHex("123"));
  EXPECT_FALSE(Hash128::fromHex(std::string(32, 'g')));
}

} // namespace
