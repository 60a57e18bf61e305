#include "runtime/kernels/attention/Problem.h"
#include "runtime/kernels/elementwise/test/TestKernel.h"
#include "runtime/kernels/gemm/Tile.h"

#include <limits>

namespace ingot::test {
namespace {

using List = std::vector<int64_t>;

Case attention(Tensor q, Tensor k, Tensor v, std::optional<Tensor> mask = std::nullopt, bool causal = false) {
  const DType dtype = q.desc.dtype;
  return {"attention",
          {std::move(q), std::move(k), std::move(v), std::move(mask)},
          {{"scale", 0.25}, {"causal", causal}},
          {dtype}};
}

/// What is chosen for a number of queries on this machine.
const char *fast(int64_t queries) { return gemm::canComputeTiles() && queries >= 16 ? "Panel" : "Tiled"; }

TEST(Attention, AgreesWithTheReference) {
  for (bool causal : {false, true})
    for (int64_t queries : {1, 5, 300})
      for (int64_t keys : {1, 7, 290}) {
        Case testCase =
            attention(noise({2, 4, queries, 16}, 1), noise({2, 4, keys, 16}, 2), noise({2, 4, keys, 9}, 3), {}, causal);
        expectFast(testCase, fast(queries), bindReferenceAttention, 1e-5);
      }
}

TEST(Attention, SharesHeadsAndReadsTransposedOperands) {
  Tensor q = inOrder(noise({2, 6, 20, 8}, 1), {0, 2, 1, 3}), k = inOrder(noise({2, 2, 30, 8}, 2), {0, 2, 1, 3}),
         v = inOrder(noise({2, 2, 30, 8}, 3), {0, 2, 1, 3});
  expectFast(attention(q, k, v), fast(20), bindReferenceAttention, 1e-5);
  // Rows that cannot be read as they lie, of many queries and of few.
  for (int64_t queries : {20, 3}) {
    Tensor turned = inOrder(noise({2, 6, queries, 8}, 1), {3, 1, 0, 2});
    expectFast(attention(turned, k, v), "Dense", bindReferenceAttention, 1e-5);
    expectFast(attention(turned, inOrder(k, {0, 1, 3, 2}), inOrder(v, {3, 2, 1, 0})), "Dense", bindReferenceAttention,
               1e-5);
  }
  auto result = attention(q, k, v).run();
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)[0].desc.strides, (List{20 * 48, 8, 48, 1}));
}

TEST(Attention, RowsThatDriveEachOtherOutOfTheCacheAgreeToo) {
  const Tensor q = inOrder(noise({1, 16, 50, 64}, 1), {0, 2, 1, 3}), k = noise({1, 16, 1020, 64}, 2),
               v = noise({1, 16, 1020, 40}, 3);
  for (bool causal : {false, true})
    expectFast(attention(q, k, v, {}, causal), fast(50), bindReferenceAttention, 1e-5);
}

TEST(Attention, HalvesAgreeWithTheReference) {
  for (const auto &[dtype, tolerance] : {std::pair(DType::Float16, 2e-3), std::pair(DType::BFloat16, 1.6e-2)})
    for (DType mask : {dtype, DType::Bool})
      for (int64_t queries : {3, 40})
        expectFast(attention(inOrder(noise({2, 4, queries, 16}, 1, dtype), {0, 2, 1, 3}),
                             noise({2, 4, 30, 16}, 2, dtype), noise({2, 4, 30, 9}, 3, dtype),
                             noise({2, 1, 1, 30}, 4, mask)),
                   "Widened", bindReferenceAttention, tolerance);
}

TEST(Attention, AppliesMasks) {
  for (int64_t n : {4, 40}) {
    const Tensor q = noise({2, 3, n, 8}, 1), k = noise({2, 3, 5, 8}, 2), v = noise({2, 3, 5, 8}, 3);
    for (List sizes : {List{n, 5}, {2, 1, n, 5}, {2, 1, 1, 5}, {1}, {2, 3, n, 5}})
      for (DType dtype : {DType::Bool, DType::Float32})
        expectFast(attention(q, k, v, noise(sizes, 4, dtype)), fast(n), bindReferenceAttention, 1e-5);
  }
}

TEST(Attention, AQueryThatSeesNothingGivesZeros) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Tensor &mask :
       {tensor({2, 3}, {0, 0, 0, 1, 0, 1}, DType::Bool), tensor({2, 3}, {-inf, -inf, -inf, 0, -inf, 0})}) {
    Case testCase = attention(noise({1, 2, 4}, 1), noise({1, 3, 4}, 2), noise({1, 3, 4}, 3), mask);
    expectFast(testCase, fast(1), bindReferenceAttention, 1e-5);
    auto result = testCase.run();
    ASSERT_TRUE(result);
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ((*result)[0].at(i), 0);
    EXPECT_NE((*result)[0].at(4), 0);
  }
}

TEST(Attention, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(attention(noise({1, 2, 4}, 1), noise({1, 3, 5}, 2), noise({1, 3, 4}, 3)).run());
  EXPECT_FALSE(attention(noise({3, 2, 4}, 1), noise({2, 3, 4}, 2), noise({2, 3, 4}, 3)).run());
  EXPECT_FALSE(attention(noise({1, 2, 4}, 1), noise({1, 3, 4}, 2), noise({1, 3, 4}, 3), noise({3, 3}, 4)).run());
  EXPECT_FALSE(attention(noise({2, 4}, 1), noise({3, 4}, 2), noise({3, 4}, 3)).run());
}

} // namespace
} // namespace ingot::test
