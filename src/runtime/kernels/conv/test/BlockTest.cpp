#include "runtime/kernels/conv/Block.h"

#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/elementwise/test/TestKernel.h"
#include "runtime/kernels/gemm/Tile.h"
#include "runtime/threads/Pool.h"

#include <limits>

namespace ingot::test {
namespace {

const std::vector<int64_t> kChannelsLast{0, 2, 3, 1};

struct BlockShape {
  std::vector<int64_t> x;
  int64_t channels; ///< of the image; those of x where nothing expands it
  std::vector<int64_t> kernel, strides, padLow, padHigh, dilations;
};

const std::vector<BlockShape> &shapes() {
  static const std::vector<BlockShape> list = {
      {{1, 16, 30, 29}, 96, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {1, 1}},
      {{2, 24, 9, 23}, 48, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {{1, 20, 14, 15}, 33, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
      {{3, 40, 7, 7}, 144, {5, 5}, {2, 2}, {1, 2}, {2, 2}, {1, 1}},
      {{1, 8, 70, 150}, 64, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, // some chunks
      {{1, 8, 40, 9}, 40, {3, 3}, {1, 1}, {9, 9}, {9, 9}, {5, 1}},   // rows of zeros only
      {{1, 33, 5, 6}, 32, {7, 7}, {1, 1}, {3, 3}, {3, 3}, {1, 1}},
      {{1, 16, 1, 1}, 32, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
  };
  return list;
}

Case block(const BlockShape &shape, bool expands, bool hasMeans, const std::string &activation) {
  const int64_t channels = expands ? shape.channels : shape.x[1];
  Case testCase{"depthwise_block", {noise(shape.x, 1), noise({channels, 1, shape.kernel[0], shape.kernel[1]}, 2)}};
  testCase.operands.push_back(noise({channels}, 3));
  if (expands) {
    testCase.operands.push_back(noise({channels, shape.x[1], 1, 1}, 4));
    testCase.operands.push_back(noise({channels}, 5));
  }
  testCase.isConstant = {false, true, true, true, true};
  if (hasMeans)
    testCase.resultTypes.push_back(DType::Float32);
  testCase.attributes = {{"strides", shape.strides},     {"pad_low", shape.padLow},  {"pad_high", shape.padHigh},
                         {"dilations", shape.dilations}, {"activation", activation}, {"expand_activation", activation}};
  return testCase;
}

TEST(DepthwiseBlock, AgreesWithTheReference) {
  for (const BlockShape &shape : shapes())
    for (bool expands : {true, false}) {
      const bool isFast = avx512::isThere() && (expands || shape.x[1] >= avx512::kLanes);
      for (bool hasMeans : {true, false})
        for (std::string activation : {"none", "relu6", "silu", "hard_swish", "gelu"})
          for (bool isChannelsLast : {true, false}) {
            Case testCase = block(shape, expands, hasMeans, activation);
            if (isChannelsLast)
              testCase.operands[0] = inOrder(*testCase.operands[0], kChannelsLast);
            expectFast(testCase, isFast ? "DepthwiseConv" : "InParts", bindReferenceBlock, 2e-5);
          }
    }
}

TEST(DepthwiseBlock, IsTheSameForAnyNumberOfThreads) {
  for (const BlockShape &shape : shapes()) {
    const Case testCase = block(shape, true, true, "silu");
    setNumThreads(1);
    auto one = testCase.run();
    setNumThreads(5);
    auto five = testCase.run();
    setNumThreads(0);
    ASSERT_TRUE(one && five);
    for (size_t i = 0; i < one->size(); ++i)
      EXPECT_EQ((*one)[i].values(), (*five)[i].values());
  }
}

TEST(DepthwiseBlock, TakesWhatNoKernelJoins) {
  // Filters that are not constant, too few channels, a stride that is not compiled, chunks that would share most of their rows.
  Case changing = block(shapes()[1], true, true, "silu");
  changing.isConstant.clear();
  Case few = block({{1, 3, 8, 8}, 6, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, true, true, "silu");
  Case far = block({{1, 16, 20, 20}, 32, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, true, "silu");
  Case wide = block({{1, 4, 9, 2100}, 32, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}}, true, true, "relu");
  for (const Case &testCase : {changing, few, far, wide})
    expectFast(testCase, "InParts", bindReferenceBlock, 2e-5);
  Case rounded = block(shapes()[1], true, true, "relu");
  rounded.precision = Precision::BFloat16;
  expectFast(rounded, "InParts", bindReferenceBlock, 3e-2);
}

TEST(DepthwiseBlock, MeansOfNothingAreNotNumbers) {
  const Case testCase = block({{0, 16, 9, 9}, 32, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, true, true, "silu");
  auto results = testCase.run();
  ASSERT_TRUE(results) << results.error().str();
  EXPECT_EQ((*results)[1].desc.sizes, (std::vector<int64_t>{0, 32, 1, 1}));
}

TEST(DepthwiseBlock, KeepsWhatIsNotFinite) {
  for (double special : {std::nan(""), std::numeric_limits<double>::infinity()})
    for (std::string activation : {"none", "relu6", "silu", "hard_swish"}) {
      Case testCase = block(shapes()[1], true, true, activation);
      testCase.operands[0]->set(100, special);
      expectSameAs(testCase, bindReferenceBlock, 2e-5);
    }
}

TEST(DepthwiseBlock, RefusesWhatDoesNotFit) {
  const Case right = block(shapes()[0], true, true, "silu");
  auto refused = [](Case testCase) { return !testCase.run(); };
  Case filters = right, expansion = right, activation = right, bias = right, rank = right, type = right, few = right;
  filters.operands[1] = noise({64, 1, 3, 3}, 1);
  expansion.operands[3] = noise({96, 16, 3, 1}, 1);
  activation.attributes.erase("expand_activation");
  bias.operands[4] = noise({95}, 1);
  rank.operands[0] = noise({16, 30, 29}, 1);
  type.operands[0] = noise({1, 16, 30, 29}, 1, DType::Float64);
  few.operands.resize(1);
  for (const Case &testCase : {filters, expansion, activation, bias, rank, type, few})
    EXPECT_TRUE(refused(testCase));
}

struct ScaledShape {
  std::vector<int64_t> x;
  int64_t channels;
};

Case scaled(const ScaledShape &shape, const std::string &activation, bool isShared = false) {
  const int64_t images = shape.x[0], in = shape.x[1];
  Case testCase{"scaled_pointwise",
                {inOrder(noise(shape.x, 1), kChannelsLast), noise({shape.channels, in, 1, 1}, 2),
                 noise({shape.channels}, 3),
                 inOrder(noise({images, shape.channels, shape.x[2], shape.x[3]}, 4), kChannelsLast),
                 noise({isShared ? 1 : images, in, 1, 1}, 5)},
                {{"activation", activation}}};
  testCase.isConstant = {false, true, true};
  return testCase;
}

TEST(ScaledPointwise, AgreesWithTheReference) {
  // Weights smaller than the image, and larger.
  for (const ScaledShape &shape : {ScaledShape{{2, 33, 20, 17}, 30}, {{3, 96, 5, 5}, 70}, {{1, 240, 7, 7}, 112}})
    for (std::string activation : {"none", "silu", "gelu"})
      for (bool isShared : {false, true}) {
        Case testCase = scaled(shape, activation, isShared);
        expectFast(testCase, gemm::canComputeTiles() ? "ScaledPanelConv" : "InParts", bindReferenceScaledPointwise,
                   2e-5);
        testCase.operands[2] = testCase.operands[3] = std::nullopt;
        expectSameAs(testCase, bindReferenceScaledPointwise, 2e-5);
      }
}

TEST(ScaledPointwise, TakesWhatNoKernelJoins) {
  Case rows = scaled({{2, 33, 20, 17}, 30}, "silu"), changing = rows, far = rows, rounded = rows;
  rows.operands[0] = noise({2, 33, 20, 17}, 1);
  changing.isConstant.clear();
  far.operands[0] = noise(TensorDesc{DType::Float32, {2, 33, 20, 17}, {20000, 1, 700, 40}}, 1);
  for (const Case &testCase : {rows, changing, far})
    expectFast(testCase, "InParts", bindReferenceScaledPointwise, 2e-5);
  rounded.precision = Precision::BFloat16;
  expectSameAs(rounded, bindReferenceScaledPointwise, 3e-2);
  expectSameAs(scaled({{0, 33, 20, 17}, 30}, "silu"), bindReferenceScaledPointwise, 0);
}

TEST(ScaledPointwise, KeepsWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const ScaledShape &shape : {ScaledShape{{1, 33, 20, 17}, 30}, {{1, 96, 3, 3}, 70}})
    for (size_t operand : {size_t(0), size_t(4)})
      for (double special : {std::nan(""), infinity, 0.0}) {
        Case testCase = scaled(shape, "none");
        testCase.operands[operand]->set(7, special);
        testCase.operands[1]->set(7, 0.0);
        expectSameAs(testCase, bindReferenceScaledPointwise, 2e-5);
      }
}

TEST(ScaledPointwise, RefusesWhatDoesNotFit) {
  const Case right = scaled({{2, 33, 20, 17}, 30}, "none");
  Case factors = right, filters = right, residual = right, type = right, count = right;
  factors.operands[4] = noise({2, 33, 1, 17}, 1);
  filters.operands[1] = noise({30, 33, 1, 2}, 1);
  residual.operands[3] = noise({2, 30, 20, 16}, 1);
  type.operands[4] = noise({2, 33, 1, 1}, 1, DType::Float64);
  count.operands.resize(4);
  for (const Case &testCase : {factors, filters, residual, type, count})
    EXPECT_FALSE(testCase.run());
}

} // namespace
} // namespace ingot::test
