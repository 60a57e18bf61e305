#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

Case product(Tensor a, Tensor table, Tensor indices) {
  return {"gather_matmul", {std::move(a), std::move(table), std::move(indices)}, {}, {DType::Float32}};
}

/// Chosen first, then multiplied.
void expectSame(const Tensor &a, const Tensor &table, const Tensor &indices) {
  auto found = product(a, table, indices).run();
  ASSERT_TRUE(found) << found.error().str();
  auto chosen = Case{"index_select", {table, indices}, {{"axis", int64_t(0)}}, {DType::Float32}}.run();
  ASSERT_TRUE(chosen) << chosen.error().str();
  auto expected =
      Case{"matmul", {a, (*chosen)[0], {}, {}}, {{"activation", std::string("none")}}, {DType::Float32}}.run();
  ASSERT_TRUE(expected) << expected.error().str();
  EXPECT_EQ((*found)[0].desc.sizes, (*expected)[0].desc.sizes);
  expectNear((*found)[0], (*expected)[0], 1e-4);
}

TEST(GatherMatmul, IsAProductWithChosenMatrices) {
  const Tensor indices = tensor({3}, {4, 0, 4}, DType::Int64);
  expectSame(noise({3, 1, 16}, 1), noise({5, 16, 8}, 2), indices);
  expectSame(noise({3, 7, 16}, 1), noise({5, 16, 300}, 2), indices);  // several pieces, many rows
  expectSame(noise({1, 2, 16}, 1), noise({5, 16, 300}, 2), indices);  // one operand for all
  expectSame(noise({2, 1, 2, 16}, 1), noise({5, 16, 9}, 2), indices); // both broadcast
  expectSame(noise({4, 16}, 1), noise({5, 16, 9}, 2), tensor({2, 2}, {0, 1, 2, 3}, DType::Int32));
}

TEST(GatherMatmul, NothingToSumIsZero) {
  auto found = product(noise({2, 3, 0}, 1), noise({4, 0, 2}, 1), tensor({2}, {1, 3}, DType::Int64)).run();
  ASSERT_TRUE(found) << found.error().str();
  expectNear((*found)[0], tensor({2, 3, 2}, {0}), 0);
}

TEST(GatherMatmul, RefusesIndicesOutsideOfTheTable) {
  auto found = product(noise({2, 1, 4}, 1), noise({5, 4, 2}, 2), tensor({2}, {0, 5}, DType::Int64)).run();
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().str().find("5"), std::string::npos);
}

TEST(GatherMatmul, RefusesWhatDoesNotFit) {
  const Tensor indices = tensor({2}, {0, 1}, DType::Int64);
  EXPECT_FALSE(product(noise({2, 1, 4}, 1), noise({5, 3, 2}, 2), indices).run());
  EXPECT_FALSE(product(noise({3, 1, 4}, 1), noise({5, 4, 2}, 2), indices).run());
  EXPECT_FALSE(product(noise({4}, 1), noise({5, 4, 2}, 2), indices).run());
}

} // namespace
} // namespace ingot::test
