#include "runtime/kernels/conv/Problem.h"
#include "runtime/kernels/elementwise/Avx512.h"
#include "runtime/kernels/elementwise/test/TestKernel.h"
#include "runtime/kernels/gemm/Tile.h"

#include <cmath>
#include <limits>

namespace ingot::test {
namespace {

struct Shape {
  std::vector<int64_t> x, weight, strides, padLow, padHigh, dilations, outputPadding;
  int64_t groups = 1;
  bool transposed = false;
};

Case conv(const Shape &shape, DType dtype = DType::Float32) {
  Case testCase{"conv", {noise(shape.x, 1, dtype), noise(shape.weight, 2, dtype)}, {}, {dtype}};
  testCase.attributes = {{"strides", shape.strides},       {"pad_low", shape.padLow},
                         {"pad_high", shape.padHigh},      {"dilations", shape.dilations},
                         {"groups", shape.groups},         {"output_padding", shape.outputPadding},
                         {"transposed", shape.transposed}, {"activation", std::string("none")}};
  return testCase;
}

const std::vector<Shape> &shapes() {
  static const std::vector<Shape> list = {
      {{2, 3, 9, 8}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {{1, 16, 9, 8}, {32, 16, 3, 3}, {2, 2}, {0, 1}, {1, 2}, {1, 1}, {0, 0}},
      {{1, 8, 9, 9}, {8, 1, 3, 3}, {1, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 8},
      {{2, 6, 7, 7}, {4, 3, 3, 2}, {1, 1}, {2, 0}, {2, 0}, {2, 1}, {0, 0}, 2},
      {{2, 5, 11}, {7, 5, 4}, {2}, {1}, {0}, {2}, {0}},
      {{1, 3, 5, 6, 7}, {4, 3, 3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}},
      {{1, 16, 5, 5}, {8, 16, 1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{2, 6, 5, 4}, {6, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, true},
      {{1, 6, 5, 4}, {6, 2, 3, 2}, {1, 2}, {0, 1}, {1, 0}, {2, 1}, {0, 0}, 3, true},
      {{2, 4, 6}, {4, 5, 3}, {2}, {0}, {0}, {1}, {0}, 1, true},
      {{1, 2, 3, 3, 3}, {2, 3, 2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1, true},
      {{0, 3, 5, 5}, {4, 3, 3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{0, 6, 16, 2}, {6, 2, 2, 2}, {1, 1}, {2, 2}, {2, 2}, {2, 2}, {0, 0}, 1, true},
  };
  return list;
}

TEST(Conv, AgreesWithTheReference) {
  for (const Shape &shape : shapes())
    for (bool isConstant : {false, true}) {
      Case testCase = conv(shape);
      testCase.isConstant = {false, isConstant};
      expectSameAs(testCase, bindReferenceConv, 1e-5);
      if (shape.x[0] != 0)
        expectSameAs(testCase, bindDnnlConv, 1e-5);
    }
}

TEST(Conv, PanelsAgreeWithTheReference) {
  if (!gemm::canComputeTiles())
    GTEST_SKIP() << "this CPU has neither AVX-512 nor AVX2";
  const std::vector<Shape> list = {
      {{2, 20, 17, 30}, {64, 20, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {{1, 20, 17, 30}, {30, 20, 3, 5}, {2, 3}, {1, 0}, {0, 2}, {1, 1}, {0, 0}},
      {{1, 20, 17, 30}, {60, 20, 3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}, {0, 0}},
      {{2, 33, 40, 9}, {96, 33, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{3, 20, 7, 7}, {64, 20, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {{1, 20, 15, 15}, {64, 20, 3, 3}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{1, 33, 9, 9}, {64, 33, 1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{2, 33, 2, 3}, {5, 33, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{2, 10, 500}, {32, 10, 3}, {2}, {1}, {1}, {1}, {0}},
      {{1, 3, 40, 40}, {32, 3, 7, 7}, {2, 2}, {3, 3}, {3, 3}, {1, 1}, {0, 0}},
  };
  for (const Shape &shape : list)
    for (std::string activation : {"none", "relu", "silu"})
      for (bool isChannelsLast : {false, true}) {
        Case testCase = conv(shape);
        auto plain = testCase.run();
        ASSERT_TRUE(plain) << plain.error().str();
        const TensorDesc &result = (*plain)[0].desc;
        const std::vector<int64_t> order =
            shape.x.size() == 4 ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1};
        if (isChannelsLast)
          testCase.operands[0] = inOrder(*testCase.operands[0], order);
        testCase.attributes["activation"] = activation;
        testCase.operands.push_back(noise({result.sizes[1]}, 3));
        testCase.operands.push_back(inOrder(noise(result.sizes, 4), order));
        testCase.isConstant = {false, true};
        const bool isWinograd = testCase.implementation().find("Winograd") != std::string::npos;
        expectFast(testCase, isWinograd ? "Winograd" : "Panel", bindReferenceConv, 2e-5);
      }
}

TEST(Conv, RoundsOperandsWhereItMay) {
  const std::vector<Shape> list = {
      {{2, 20, 17, 30}, {64, 20, 3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {{2, 34, 40, 9}, {96, 34, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{1, 20, 17, 30}, {60, 20, 3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}, {0, 0}},
      {{3, 20, 7, 7}, {64, 20, 5, 3}, {1, 1}, {2, 1}, {2, 1}, {1, 1}, {0, 0}},
      {{2, 2048, 4, 5}, {130, 2048, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{1, 33, 9, 9}, {64, 33, 1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{2, 10, 500}, {32, 10, 3}, {2}, {1}, {1}, {1}, {0}},
  };
  for (const Shape &shape : list)
    for (bool isChannelsLast : {false, true}) {
      Case testCase = conv(shape);
      testCase.operands = {quarters(shape.x, 1), quarters(shape.weight, 2), noise({shape.weight[0]}, 3)};
      if (isChannelsLast)
        testCase.operands[0] = inOrder(*testCase.operands[0], shape.x.size() == 4 ? std::vector<int64_t>{0, 2, 3, 1}
                                                                                  : std::vector<int64_t>{0, 2, 1});
      testCase.isConstant = {false, true};
      testCase.precision = Precision::BFloat16;
      expectFast(testCase, gemm::canComputeTiles() ? "Panel" : "Dnnl", bindReferenceConv, 2e-5);
    }
}

TEST(Conv, TakesIntegersWhereItMay) {
  const std::vector<Shape> list = {
      {{2, 20, 17, 30}, {64, 20, 3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {{2, 36, 40, 9}, {96, 36, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{1, 20, 17, 30}, {60, 20, 3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}, {0, 0}},
      {{1, 64, 9, 9}, {64, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {{3, 20, 7, 7}, {64, 20, 5, 3}, {1, 1}, {2, 1}, {2, 1}, {1, 1}, {0, 0}},
      {{2, 4096, 4, 5}, {130, 4096, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{1, 34, 9, 9}, {64, 34, 1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{2, 12, 500}, {32, 12, 3}, {2}, {1}, {1}, {1}, {0}},
  };
  for (const Shape &shape : list) {
    Case testCase = conv(shape);
    const Tensor x = sevenBits(shape.x, 1), weight = sevenBits(shape.weight, 2);
    const int64_t image = x.desc.numel() / shape.x[0], filter = weight.desc.numel() / shape.weight[0];
    for (int64_t i = 0; i < x.desc.numel(); i += image) {
      x.set(i, -1);
      x.set(i + 1, 127.0 / 128);
    }
    for (int64_t i = 0; i < weight.desc.numel(); i += filter)
      weight.set(i, 127.0 / 128);
    testCase.operands = {
        inOrder(x, shape.x.size() == 4 ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1}), weight,
        noise({shape.weight[0]}, 3)};
    testCase.isConstant = {false, true};
    testCase.precision = Precision::Int8;
    // Sums of up to 4096 terms.
    expectFast(testCase, gemm::canComputeTiles() ? "Panel" : "Dnnl", bindReferenceConv, 5e-5);
  }
}

TEST(Conv, LargeWeightsAgreeWithTheReference) {
  for (const Shape &shape :
       std::vector<Shape>{{{1, 256, 4, 4}, {256, 256, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
                          {{1, 256, 4, 4}, {256, 256, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}}) {
    Case testCase = conv(shape);
    testCase.isConstant = {false, true};
    // Rounding errors grow with the square root of the number of terms, which is 2304.
    expectFast(testCase, gemm::canComputeTiles() ? "Panel" : "Dnnl", bindReferenceConv, 5e-5);
  }
}

TEST(Conv, PixelsThatDriveEachOtherOutOfTheCacheAgreeToo) {
  if (!gemm::canComputeTiles())
    GTEST_SKIP() << "this CPU has neither AVX-512 nor AVX2";
  const std::vector<Shape> list = {
      {{2, 1024, 4, 5}, {130, 1024, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{1, 512, 6, 7}, {128, 512, 1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{1, 512, 6, 29}, {128, 512, 3, 3}, {2, 2}, {1, 1}, {1, 0}, {1, 1}, {0, 0}},
      {{1, 1024, 5, 7}, {128, 1024, 3, 2}, {1, 1}, {1, 1}, {1, 1}, {2, 1}, {0, 0}},
      {{1, 1024, 20}, {128, 1024, 3}, {1}, {1}, {0}, {1}, {0}},
  };
  for (const Shape &shape : list) {
    Case testCase = conv(shape);
    testCase.isConstant = {false, true};
    // Sums of up to 6144 terms.
    expectFast(testCase, "Panel", bindReferenceConv, 1e-4);
    testCase.operands[0] = inOrder(*testCase.operands[0], shape.x.size() == 4 ? std::vector<int64_t>{0, 2, 3, 1}
                                                                              : std::vector<int64_t>{0, 2, 1});
    expectFast(testCase, "Panel", bindReferenceConv, 1e-4);
  }
}

TEST(Conv, HalvesAgreeWithTheReference) {
  const std::vector<Shape> list = {
      {{2, 20, 9, 11}, {33, 20, 3, 3}, {1, 2}, {1, 1}, {1, 0}, {1, 1}, {0, 0}},
      {{1, 64, 13, 12}, {64, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {{1, 48, 9, 9}, {48, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 48},
      {{2, 6, 5, 4}, {6, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, true},
  };
  for (const auto &[dtype, tolerance] : {std::pair(DType::Float16, 2e-3), std::pair(DType::BFloat16, 1.6e-2)})
    for (const Shape &shape : list)
      for (bool isConstant : {false, true}) {
        Case testCase = conv(shape, dtype);
        testCase.attributes["activation"] = std::string("relu");
        auto plain = testCase.run();
        ASSERT_TRUE(plain) << plain.error().str();
        const std::vector<int64_t> sizes = (*plain)[0].desc.sizes;
        testCase.operands.push_back(noise({sizes[1]}, 3, dtype));
        testCase.operands.push_back(inOrder(noise(sizes, 4, dtype), {0, 2, 3, 1}));
        testCase.operands[0] = inOrder(*testCase.operands[0], {0, 2, 3, 1});
        testCase.isConstant = {false, isConstant};
        expectFast(testCase, "Widened", bindReferenceConv, tolerance);
      }
}

TEST(Conv, DepthwiseAgreesWithTheReference) {
  const std::vector<Shape> list = {
      {{2, 48, 9, 23}, {48, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 48},
      {{1, 33, 11, 20}, {33, 1, 3, 3}, {2, 2}, {0, 0}, {1, 1}, {1, 1}, {0, 0}, 33},
      {{1, 70, 7, 7}, {70, 1, 5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, 70},
      {{1, 32, 14, 15}, {32, 1, 5, 5}, {2, 2}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, 32},
      {{2, 16, 30, 40}, {16, 1, 7, 7}, {1, 1}, {3, 3}, {3, 3}, {1, 1}, {0, 0}, 16},
      {{1, 40, 9, 9}, {40, 1, 2, 3}, {3, 1}, {4, 4}, {5, 3}, {3, 1}, {0, 0}, 40},
      {{1, 16, 2, 1}, {16, 1, 5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, 16},
      {{2, 24, 50}, {24, 1, 3}, {1}, {1}, {1}, {1}, {0}, 24},
  };
  for (const Shape &shape : list)
    for (std::string activation : {"none", "relu", "relu6", "silu", "hard_swish", "gelu"})
      for (bool hasBias : {false, true}) {
        Case testCase = conv(shape);
        testCase.attributes["activation"] = activation;
        if (hasBias)
          testCase.operands.push_back(noise({shape.x[1]}, 3));
        testCase.isConstant = {false, true};
        expectFast(testCase, avx512::isThere() ? "Depthwise" : "Dnnl", bindReferenceConv, 1e-5);
        testCase.operands[0] = inOrder(*testCase.operands[0], shape.x.size() == 4 ? std::vector<int64_t>{0, 2, 3, 1}
                                                                                  : std::vector<int64_t>{0, 2, 1});
        expectFast(testCase, avx512::isThere() ? "Depthwise" : "Dnnl", bindReferenceConv, 1e-5);
      }
}

TEST(Conv, DepthwiseStepsThatAreNotCompiledAgreeToo) {
  for (const Shape &shape : std::vector<Shape>{
           {{1, 32, 12, 40}, {32, 1, 1, 2}, {1, 11}, {0, 0}, {0, 0}, {1, 1}, {0, 0}, 32},
           {{1, 32, 12, 60}, {32, 1, 1, 3}, {1, 21}, {0, 0}, {0, 0}, {1, 1}, {0, 0}, 32},
           {{1, 32, 12, 60}, {32, 1, 3, 1}, {1, 31}, {0, 0}, {0, 0}, {1, 1}, {0, 0}, 32},
           {{1, 32, 12, 20}, {32, 1, 3, 3}, {1, 3}, {0, 0}, {0, 0}, {1, 1}, {0, 0}, 32},
       }) {
    Case testCase = conv(shape);
    testCase.isConstant = {false, true};
    expectSameAs(testCase, bindReferenceConv, 1e-5);
  }
}

TEST(Conv, WinogradAgreesWithTheReference) {
  const std::vector<Shape> list = {
      {{1, 64, 13, 12}, {64, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {{2, 50, 9, 20}, {32, 50, 3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {{3, 48, 8, 7}, {96, 48, 3, 3}, {1, 1}, {2, 0}, {1, 3}, {1, 1}, {0, 0}},
      {{1, 144, 12, 12}, {192, 48, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 3},
  };
  for (const Shape &shape : list)
    for (std::string activation : {"none", "relu", "relu6"})
      for (bool hasMore : {false, true}) {
        Case testCase = conv(shape);
        testCase.attributes["activation"] = activation;
        testCase.isConstant = {false, true};
        testCase.operands[0] = inOrder(*testCase.operands[0], {0, 2, 3, 1});
        auto plain = testCase.run();
        ASSERT_TRUE(plain) << plain.error().str();
        if (hasMore) {
          const std::vector<int64_t> sizes = (*plain)[0].desc.sizes;
          testCase.operands.push_back(noise({sizes[1]}, 3));
          testCase.operands.push_back(inOrder(noise(sizes, 4), {0, 2, 3, 1}));
        }
        // Sums of 576 terms, and a few more roundings.
        expectFast(testCase, gemm::canComputeTiles() ? "Winograd" : "Dnnl", bindReferenceConv, 3e-5);
      }
}

TEST(Conv, AgreesWithTheReferenceByEveryMethod) {
  std::vector<Shape> list = shapes();
  // Too few channels, too few pixels and filters too large for Winograd's form to be the usual one, which is right all the same.
  list.push_back({{1, 3, 9, 9}, {32, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}});
  list.push_back({{1, 50, 1, 3}, {64, 50, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}});
  list.push_back({{2, 384, 3, 3}, {320, 384, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}});
  const size_t own = list.size() - 3;
  for (size_t i = 0; i < list.size(); ++i)
    for (Method method : {Method::Panels, Method::Winograd, Method::OneDnn})
      for (bool isConstant : {false, true}) {
        Case testCase = conv(list[i]);
        testCase.isConstant = {false, isConstant};
        if (i >= own)
          testCase.operands[0] = inOrder(*testCase.operands[0], {0, 2, 3, 1});
        testCase.method = method;
        expectSameAs(testCase, bindReferenceConv, 1e-4);
        if (i >= own && isConstant && gemm::canComputeTiles())
          EXPECT_NE(testCase.implementation().find(method == Method::Panels     ? "Panel"
                                                   : method == Method::Winograd ? "Winograd"
                                                                                : "Dnnl"),
                    std::string::npos);
      }
}

TEST(Conv, AddsBiasResidualAndActivationInThisOrder) {
  for (const Shape &shape : shapes())
    for (std::string activation : {"none", "relu", "relu6", "gelu", "silu", "hard_swish", "sigmoid"}) {
      Case testCase = conv(shape);
      auto plain = testCase.run();
      ASSERT_TRUE(plain) << plain.error().str();
      const std::vector<int64_t> sizes = (*plain)[0].desc.sizes;
      testCase.attributes["activation"] = activation;
      testCase.operands.push_back(noise({sizes[1]}, 3));
      testCase.operands.push_back(noise(sizes, 4));
      testCase.isConstant = {false, true};
      expectFast(testCase, shape.x[0] == 0 ? "Reference" : "Dnnl", bindReferenceConv, 2e-5);
    }
}

TEST(Conv, KeepsWhatIsNotFinite) {
  std::vector<Shape> list = shapes();
  list.push_back({{1, 64, 13, 12}, {64, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}); // Winograd
  list.push_back({{4, 4, 3}, {6, 2, 1}, {1}, {1}, {1}, {1}, {0}, 2});
  for (const Shape &shape : list)
    for (std::string activation :
         {"none", "relu", "relu6", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "hard_swish", "hard_sigmoid"})
      for (double special : {std::nan(""), -std::nan(""), -std::numeric_limits<double>::infinity()}) {
        Case testCase = conv(shape);
        if (shape.x[0] == 0)
          continue;
        SCOPED_TRACE(activation);
        testCase.attributes["activation"] = activation;
        testCase.isConstant = {false, true};
        testCase.operands[0]->set(testCase.operands[0]->desc.numel() / 2, special);
        if (shape.x.size() == 4)
          testCase.operands[0] = inOrder(*testCase.operands[0], {0, 2, 3, 1});
        expectSameAs(testCase, bindReferenceConv, 3e-5);
        expectSameAs(testCase, bindDnnlConv, 3e-5);
      }
  Case constant = conv(shapes()[0]);
  constant.attributes["activation"] = std::string("relu");
  constant.isConstant = {false, true};
  constant.operands[1]->set(5, std::nan(""));
  expectSameAs(constant, bindReferenceConv, 1e-5);
  expectSameAs(constant, bindDnnlConv, 1e-5);
}

TEST(Conv, KeepsChannelsLast) {
  Case testCase = conv(shapes()[0]);
  testCase.operands[0] = inOrder(*testCase.operands[0], {0, 2, 3, 1});
  auto result = testCase.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_TRUE(isChannelsLast((*result)[0].desc));
  expectFast(testCase, "Dnnl", bindReferenceConv, 1e-5);
}

TEST(Conv, KnowsOtherTypes) {
  for (DType dtype : {DType::Float64, DType::Float16, DType::BFloat16})
    EXPECT_TRUE(conv(shapes()[0], dtype).run());
  EXPECT_TRUE(conv(shapes()[0], DType::Int64).run());
  EXPECT_FALSE(conv(shapes()[0], DType::Bool).run());
}

TEST(Conv, RefusesWhatDoesNotFit) {
  Shape shape = shapes()[0];
  shape.weight = {4, 2, 3, 3};
  EXPECT_FALSE(conv(shape).run());
  shape = shapes()[0];
  shape.groups = 2;
  EXPECT_FALSE(conv(shape).run());
  shape = shapes()[0];
  shape.strides = {0, 1};
  EXPECT_FALSE(conv(shape).run());
  shape = shapes()[0];
  shape.dilations = {9, 9};
  EXPECT_FALSE(conv(shape).run());
  shape = shapes()[0];
  shape.padLow = {-1, 0};
  EXPECT_FALSE(conv(shape).run());
}

} // namespace
} // namespace ingot::test
