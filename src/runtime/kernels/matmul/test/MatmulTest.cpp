#include "runtime/kernels/elementwise/test/TestKernel.h"
#include "runtime/kernels/gemm/Pairs.h"
#include "runtime/kernels/gemm/Quads.h"
#include "runtime/kernels/matmul/Problem.h"

#include <algorithm>

#include <array>
#include <cmath>

namespace ingot::test {
namespace {

Case matmul(Tensor a, Tensor b, std::string activation = "none") {
  const DType dtype = a.desc.dtype;
  return {"matmul", {std::move(a), std::move(b)}, {{"activation", std::move(activation)}}, {dtype}};
}

TEST(Matmul, HalvesAgreeWithTheReference) {
  for (const auto &[dtype, tolerance] : {std::pair(DType::Float16, 2e-3), std::pair(DType::BFloat16, 1.6e-2)})
    for (bool isConstant : {false, true})
      for (const std::string &activation : {"none", "gelu"}) {
        // A product with a bias and a residual, with a matrix in another order, and many small ones.
        Case plain = matmul(noise({17, 70}, 1, dtype), noise({70, 45}, 2, dtype), activation);
        plain.operands.push_back(noise({45}, 3, dtype));
        plain.operands.push_back(noise({17, 45}, 4, dtype));
        Case turned = matmul(noise({2, 9, 33}, 1, dtype), inOrder(noise({33, 64}, 2, dtype), {1, 0}), activation);
        Case many = matmul(noise({3, 9, 33}, 1, dtype), noise({3, 33, 20}, 2, dtype), activation);
        for (Case *testCase : {&plain, &turned, &many}) {
          testCase->isConstant = {false, isConstant};
          expectFast(*testCase, "Widened", bindReferenceMatmul, tolerance);
        }
      }
}

TEST(Matmul, ComputesAProduct) {
  auto result = matmul(tensor({2, 2}, {1, 2, 3, 4}), tensor({2, 2}, {5, 6, 7, 8})).run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values(), (std::vector<double>{19, 22, 43, 50}));
}

/// What multiplies by constant matrices on this machine.
const char *byPanels() { return gemm::canComputeTiles() ? "Panel" : "Dnnl"; }

/// The choice, whatever it is, and oneDNN agree with the reference.
void expectRight(const Case &testCase, double tolerance) {
  expectSameAs(testCase, bindReferenceMatmul, tolerance);
  expectSameAs(testCase, bindDnnlMatmul, tolerance);
}

TEST(Matmul, AgreesWithTheReferenceForAllShapes) {
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> shapes = {
      {{3, 5}, {5, 7}},
      {{1, 64}, {64, 33}},
      {{4, 3, 5}, {5, 7}},
      {{2, 3, 4, 5}, {5, 6}},
      {{2, 3, 4, 5}, {2, 3, 5, 6}},
      {{2, 1, 4, 5}, {1, 3, 5, 6}},
      {{4, 5}, {2, 3, 5, 6}},
      {{2, 3, 4, 5}, {3, 5, 6}},
      {{17, 1}, {1, 9}},
      {{1, 1}, {1, 1}},
      {{0, 5}, {5, 7}},
      {{3, 0}, {0, 7}},
      {{3, 5}, {5, 0}},
      {{2, 2, 2, 4, 5}, {2, 1, 2, 5, 6}}};
  for (const auto &[a, b] : shapes)
    for (bool isConstant : {false, true}) {
      Case testCase = matmul(noise(a, 1), noise(b, 2));
      testCase.isConstant = {false, isConstant};
      const bool isEmpty = std::ranges::count(a, 0) + std::ranges::count(b, 0) > 0;
      if (isEmpty)
        expectFast(testCase, "Reference", bindReferenceMatmul, 1e-5);
      else
        expectRight(testCase, 1e-5);
    }
}

TEST(Matmul, RoundsOperandsWhereItMay) {
  // Halves and quarters lose nothing: what is left of the difference is the order of the sums.
  const std::vector<std::array<int64_t, 3>> shapes = {
      {17, 70, 45}, {1, 33, 64}, {30, 1, 40}, {29, 2048, 40}, {3, 2047, 9}};
  for (const auto &[m, k, n] : shapes) {
    Case testCase = matmul(quarters({m, k}, 1), quarters({k, n}, 2), "relu");
    testCase.operands.push_back(noise({n}, 3));
    testCase.operands.push_back(noise({m, n}, 4));
    testCase.isConstant = {false, true};
    testCase.precision = Precision::BFloat16;
    expectFast(testCase, byPanels(), bindReferenceMatmul, 1e-5);
  }
  Case rough = matmul(tensor({1, 2}, {1.001, 1}), tensor({2, 1}, {1, 0}));
  rough.isConstant = {false, true};
  rough.precision = Precision::BFloat16;
  auto result = rough.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values()[0], gemm::canComputePairs() ? 1.0 : static_cast<double>(1.001f));
}

TEST(Matmul, TakesIntegersWhereItMay) {
  // Rows from -128 to 127 and columns whose largest element is 127 lose nothing.
  const std::vector<std::array<int64_t, 3>> shapes = {{17, 70, 45},   {1, 33, 64},  {30, 1, 40},
                                                      {29, 4096, 40}, {3, 2047, 9}, {100, 64, 256}};
  for (const auto &[m, k, n] : shapes)
    for (std::string activation : {"relu", "gelu", "silu"}) {
      const Tensor a = sevenBits({m, k}, 1), b = sevenBits({k, n}, 2);
      for (int64_t row = 0; row < m; ++row) {
        a.set(row * k, -1);
        a.set(row * k + 1, 127.0 / 128);
      }
      for (int64_t column = 0; column < n; ++column)
        b.set(column, 127.0 / 128);
      Case testCase = matmul(a, b, activation);
      testCase.operands.push_back(noise({n}, 3));
      testCase.operands.push_back(noise({m, n}, 4));
      testCase.isConstant = {false, true};
      testCase.precision = Precision::Int8;
      expectFast(testCase, byPanels(), bindReferenceMatmul, 2e-5);
    }
  if (!gemm::canComputeQuads())
    return;
  // A row of zeros, one of tiny numbers, and one with an infinity.
  const double infinity = std::numeric_limits<double>::infinity();
  Case odd = matmul(tensor({3, 2}, {0, 0, 1e-35, 0, infinity, 1}), tensor({2, 1}, {2, 1}));
  odd.isConstant = {false, true};
  odd.precision = Precision::Int8;
  auto result = odd.run();
  ASSERT_TRUE(result) << result.error().str();
  const std::vector<double> values = (*result)[0].values();
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 0);
  EXPECT_TRUE(std::isnan(values[2]));
}

TEST(Matmul, ByOneDnnWhereThatIsAskedFor) {
  Case testCase = matmul(noise({17, 70}, 1), noise({70, 45}, 2), "relu");
  testCase.isConstant = {false, true};
  EXPECT_NE(testCase.implementation().find(byPanels()), std::string::npos);
  testCase.method = Method::OneDnn;
  EXPECT_EQ(testCase.implementation().find("Panel"), std::string::npos);
  expectSameAs(testCase, bindReferenceMatmul, 1e-5);
}

TEST(Matmul, DividesLargeProducts) {
  for (const auto &[m, k, n] : std::vector<std::array<int64_t, 3>>{{200, 100, 70}, {1500, 3, 40}, {30, 1024, 64}}) {
    Case testCase = matmul(noise({m, k}, 1), noise({k, n}, 2));
    testCase.isConstant = {false, true};
    // Rounding errors grow with the square root of the depth.
    expectFast(testCase, byPanels(), bindReferenceMatmul, 1e-6 * std::sqrt(static_cast<double>(k)));
  }
}

TEST(Matmul, ManySmallMatrices) {
  const char *fast = gemm::canComputeTiles() ? "Batched" : "Dnnl";
  Tensor a = inOrder(noise({2, 3, 50, 20}, 1), {0, 2, 1, 3}), b = inOrder(noise({2, 3, 20, 40}, 2), {0, 1, 3, 2});
  expectFast(matmul(a, b), fast, bindReferenceMatmul, 1e-5);
  expectFast(matmul(noise({2, 1, 50, 20}, 1), noise({1, 3, 20, 64}, 2)), fast, bindReferenceMatmul, 1e-5);
  expectFast(matmul(noise({300, 7}, 1), noise({2, 7, 9}, 2)), fast, bindReferenceMatmul, 1e-5);
  Case complete = matmul(a, b, "silu");
  complete.operands.push_back(noise({40}, 3));
  complete.operands.push_back(noise({2, 3, 50, 40}, 4));
  expectFast(complete, fast, bindReferenceMatmul, 2e-5);
}

TEST(Matmul, KeepsNan) {
  for (std::string activation :
       {"relu", "relu6", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "hard_swish", "hard_sigmoid"})
    for (double special : {std::nan(""), -std::nan("")})
      for (bool hasMore : {false, true}) {
        Case testCase = matmul(noise({40, 50}, 1), noise({50, 70}, 2), activation);
        testCase.operands[0]->set(7, special);
        if (hasMore) {
          testCase.operands.push_back(noise({70}, 3));
          testCase.operands.push_back(noise({40, 70}, 4));
        }
        SCOPED_TRACE(activation);
        expectFast(testCase, "Dnnl", bindReferenceMatmul, 2e-5);
      }
}

TEST(Matmul, BooleansWhereThereIsNothingToCompute) {
  auto result = matmul(noise({2, 0}, 1, DType::Bool), noise({0, 2}, 2, DType::Bool)).run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values(), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_FALSE(matmul(noise({2, 1}, 1, DType::Bool), noise({1, 2}, 2, DType::Bool)).run());
}

TEST(Matmul, AddsBiasActivationAndResidualInThisOrder) {
  for (std::string activation :
       {"none", "relu", "relu6", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "hard_swish", "hard_sigmoid"})
    for (std::vector<int64_t> bias : {std::vector<int64_t>{7}, {1}, {4, 7}, {2, 1, 7}, {2, 4, 1}, {}}) {
      Case testCase = matmul(noise({2, 4, 5}, 1), noise({5, 7}, 2), activation);
      testCase.operands.push_back(noise(bias, 3));
      testCase.operands.push_back(noise({2, 4, 7}, 4));
      testCase.isConstant = {false, true};
      expectRight(testCase, 2e-5);
    }
}

TEST(Matmul, ReadsTransposedAndRepeatedOperands) {
  Tensor a = inOrder(noise({2, 3, 4, 5}, 1), {0, 2, 1, 3}), b = inOrder(noise({2, 3, 5, 6}, 2), {0, 1, 3, 2});
  expectRight(matmul(a, b), 1e-5);
  expectRight(matmul(inOrder(noise({6, 5}, 1), {1, 0}), inOrder(noise({5, 6}, 2), {1, 0})), 1e-5);
  expectRight(matmul(inOrder(noise({2, 3, 4, 5}, 1), {3, 1, 0, 2}), b), 1e-5);
  Tensor repeated = noise({1, 1, 4, 5}, 3);
  repeated.desc.sizes = {2, 3, 4, 5};
  repeated.desc.strides = {0, 0, 5, 1};
  expectRight(matmul(repeated, b), 1e-5);
  Case withResidual = matmul(noise({4, 5}, 1), noise({5, 6}, 2), "relu");
  withResidual.operands.push_back(std::nullopt);
  withResidual.operands.push_back(inOrder(noise({4, 6}, 5), {1, 0}));
  expectRight(withResidual, 1e-5);
}

TEST(Matmul, KnowsOtherTypes) {
  for (DType dtype : {DType::Float64, DType::Float16, DType::BFloat16, DType::Int64, DType::Int32, DType::UInt8})
    expectSameAs(matmul(noise({3, 4}, 1, dtype), noise({4, 5}, 2, dtype)), bindReferenceMatmul, 0);
  auto wrapped = matmul(tensor({1, 1}, {100}, DType::Int8), tensor({1, 1}, {2}, DType::Int8)).run();
  ASSERT_TRUE(wrapped);
  EXPECT_EQ((*wrapped)[0].at(0), -56);
}

TEST(Matmul, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(matmul(noise({3, 4}, 1), noise({5, 6}, 2)).run());
  EXPECT_FALSE(matmul(noise({4}, 1), noise({4, 6}, 2)).run());
  EXPECT_FALSE(matmul(noise({2, 3, 4}, 1), noise({3, 4, 6}, 2)).run());
  EXPECT_FALSE(matmul(noise({3, 4}, 1), noise({4, 6}, 2), "swish").run());
  EXPECT_FALSE(matmul(noise({3, 4}, 1), noise({4, 6}, 2, DType::Float64)).run());
  Case wrongBias = matmul(noise({3, 4}, 1), noise({4, 6}, 2));
  wrongBias.operands.push_back(noise({5}, 3));
  EXPECT_FALSE(wrongBias.run());
}

} // namespace
} // namespace ingot::test
