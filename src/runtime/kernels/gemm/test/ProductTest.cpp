#include "runtime/kernels/gemm/Product.h"

#include <gtest/gtest.h>

namespace ingot::test {
namespace {

constexpr float kSubnormal = 1e-40f;

float multiplied(float a, float b) {
  const int64_t depth = 20, columns = 40, noTap = 0;
  const std::vector<float> row(depth, a), matrix(depth * columns, b);
  const gemm::Panels panels(gemm::PanelSource{matrix.data(), {depth}, {columns}, columns, 1});
  std::vector<float> result(columns, -1.0f);
  gemm::multiplyMatrix({panels.view(), {&noTap, 1}, depth, result.data(), columns, {}}, {row.data(), depth, 0, 1});
  return result[columns - 1];
}

TEST(Product, TakesSubnormalNumbersAsZerosAndLeavesTheThreadAsItWas) {
  if (!gemm::canComputeTiles())
    GTEST_SKIP() << "this CPU has neither AVX-512 nor AVX2";
  EXPECT_EQ(multiplied(0.5f, 2.0f), 20.0f);
  EXPECT_EQ(multiplied(kSubnormal, 1.0f), 0.0f);
  volatile float small = kSubnormal;
  EXPECT_GT(small * 1.0f, 0.0f);
}

} // namespace
} // namespace ingot::test
