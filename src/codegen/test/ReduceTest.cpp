#include "codegen/test/KernelFixture.h"

#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>

namespace ingot::codegen {
namespace {

std::vector<float> randomFloats(size_t count, float low = -3, float high = 3) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(engine);
  return values;
}

const std::string kSoftmax = clusterText({"tensor<?x?xf32>"}, R"(
    %max = ingot.reduce %a {kind = 2 : i32, dims = array<i64: 1>} : (tensor<?x?xf32>) -> tensor<?x1xf32>
    %0 = ingot.sub %a, %max : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
    %1 = ingot.exp %0 : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %sum = ingot.reduce %1 {kind = 0 : i32, dims = array<i64: 1>} : (tensor<?x?xf32>) -> tensor<?x1xf32>
    %2 = ingot.div %1, %sum : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
    ingot.yield %2 : tensor<?x?xf32>)",
                                         {"tensor<?x?xf32>"});

std::vector<float> softmax(const std::vector<float> &x, int64_t length) {
  std::vector<float> y(x.size());
  for (size_t row = 0; row < x.size(); row += length) {
    double max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < length; ++j)
      max = std::max<double>(max, x[row + j]);
    for (int64_t j = 0; j < length; ++j)
      sum += std::exp(x[row + j] - max);
    for (int64_t j = 0; j < length; ++j)
      y[row + j] = static_cast<float>(std::exp(x[row + j] - max) / sum);
  }
  return y;
}

TEST(Reduce, Softmax) {
  Kernels kernels(kSoftmax);
  ASSERT_EQ(kernels.clusters.size(), 1u);
  EXPECT_EQ(kernels.clusters[0]->getAttrOfType<mlir::IntegerAttr>("reduce_rank").getInt(), 1);
  for (int64_t length : {1, 5, 64, 131}) {
    std::vector<float> x = randomFloats(9 * length, -20, 20), y(x.size());
    std::vector<float> expected = softmax(x, length);
    call(kernels.function(), 9, length, {{x.data(), length, 1}, {y.data(), length, 1}});
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(y[i], expected[i], 1e-6);
    // In place, and along the columns of a transposed matrix.
    std::vector<float> inPlace = x, transposed(x.size());
    call(kernels.function(), 9, length, {{inPlace.data(), length, 1}, {inPlace.data(), length, 1}});
    EXPECT_EQ(inPlace, y);
    call(kernels.function(), 9, length, {{x.data(), length, 1}, {transposed.data(), 1, 9}});
    for (int64_t i = 0; i < 9; ++i)
      for (int64_t j = 0; j < length; ++j)
        ASSERT_NEAR(transposed[j * 9 + i], expected[i * length + j], 1e-6);
  }
}

TEST(Reduce, SoftmaxKeepsNan) {
  Kernels kernels(kSoftmax);
  std::vector<float> x = randomFloats(200), y(200);
  x[37] = std::numeric_limits<float>::quiet_NaN();
  call(kernels.function(), 2, 100, {{x.data(), 100, 1}, {y.data(), 100, 1}});
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[99]));
  EXPECT_FALSE(std::isnan(y[100]));
}

// The value that is expensive (gelu) lies before two reductions. `shift` is the type of an operand that is read after
// them: one that the result cannot share its memory with, so that gelu is kept there, or one that it can.
std::string geluLayerNorm(const std::string &shift) {
  std::string body = R"(
    %n = ingot.constant dense<96.0> : tensor<f32>
    %eps = ingot.constant dense<1.0e-5> : tensor<f32>
    %x = ingot.gelu %a : (tensor<4x96xf32>) -> tensor<4x96xf32>
    %s = ingot.reduce %x {kind = 0 : i32, dims = array<i64: 1>} : (tensor<4x96xf32>) -> tensor<4x1xf32>
    %mean = ingot.div %s, %n : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
    %d = ingot.sub %x, %mean : (tensor<4x96xf32>, tensor<4x1xf32>) -> tensor<4x96xf32>
    %dd = ingot.mul %d, %d : (tensor<4x96xf32>, tensor<4x96xf32>) -> tensor<4x96xf32>
    %v = ingot.reduce %dd {kind = 0 : i32, dims = array<i64: 1>} : (tensor<4x96xf32>) -> tensor<4x1xf32>
    %var = ingot.div %v, %n : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
    %e = ingot.add %var, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
    %r = ingot.rsqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
    %0 = ingot.mul %d, %r : (tensor<4x96xf32>, tensor<4x1xf32>) -> tensor<4x96xf32>
    %1 = ingot.mul %0, %b : (tensor<4x96xf32>, tensor<96xf32>) -> tensor<4x96xf32>
    %2 = ingot.add %1, %c : (tensor<4x96xf32>, )" +
                     shift + R"() -> tensor<4x96xf32>
    ingot.yield %2, %mean, %var : tensor<4x96xf32>, tensor<4x1xf32>, tensor<4x1xf32>)";
  return clusterText({"tensor<4x96xf32>", "tensor<96xf32>", shift}, body,
                     {"tensor<4x96xf32>", "tensor<4x1xf32>", "tensor<4x1xf32>"});
}

struct LayerNorm {
  std::vector<float> y = std::vector<float>(384), mean = std::vector<float>(4), var = std::vector<float>(4);
};

LayerNorm expectedLayerNorm(const std::vector<float> &x, const std::vector<float> &w, const std::vector<float> &shift) {
  LayerNorm result;
  for (size_t i = 0; i < 4; ++i) {
    std::vector<double> g(96);
    double sum = 0, squares = 0;
    for (size_t j = 0; j < 96; ++j)
      sum += g[j] = 0.5 * x[i * 96 + j] * (1 + std::erf(x[i * 96 + j] * M_SQRT1_2));
    for (double value : g)
      squares += (value - sum / 96) * (value - sum / 96);
    result.mean[i] = static_cast<float>(sum / 96);
    result.var[i] = static_cast<float>(squares / 96);
    for (size_t j = 0; j < 96; ++j)
      result.y[i * 96 + j] = static_cast<float>((g[j] - sum / 96) / std::sqrt(squares / 96 + 1e-5) * w[j] +
                                                shift[(i * 96 + j) % shift.size()]);
  }
  return result;
}

TEST(Reduce, LayerNormOfGelu) {
  for (const char *shiftType : {"tensor<96xf32>", "tensor<4x96xf32>"}) {
    Kernels kernels(geluLayerNorm(shiftType));
    bool isVector = shiftType[8] == '6';
    std::vector<float> x = randomFloats(384), w = randomFloats(96), shift = randomFloats(isVector ? 96 : 384);
    LayerNorm expected = expectedLayerNorm(x, w, shift);
    // The result in memory of its own, and in that of the first or of the last operand.
    for (int shared = 0; shared < (isVector ? 2 : 3); ++shared) {
      LayerNorm actual;
      std::vector<float> first = x, last = shift;
      std::vector<float> &y = shared == 0 ? actual.y : shared == 1 ? first : last;
      call(kernels.function(), 4, 96,
           {{first.data(), 96, 1},
            {w.data(), 0, 1},
            {last.data(), isVector ? 0 : 96, 1},
            {y.data(), 96, 1},
            {actual.mean.data(), 1, 0},
            {actual.var.data(), 1, 0}});
      EXPECT_THAT(actual.mean, testing::Pointwise(testing::FloatNear(1e-6f), expected.mean));
      EXPECT_THAT(actual.var, testing::Pointwise(testing::FloatNear(1e-5f), expected.var));
      EXPECT_THAT(y, testing::Pointwise(testing::FloatNear(1e-5f), expected.y)) << shiftType << shared;
    }
  }
}

std::string reduceText(const std::string &element, int kind, const std::string &result) {
  std::string x = "tensor<?x3x?x" + element + ">", y = "tensor<?x1x1x" + result + ">";
  return clusterText({x},
                     "%0 = ingot.reduce %a {kind = " + std::to_string(kind) + " : i32, dims = array<i64: 1, 2>} : (" +
                         x + ") -> " + y + "\n ingot.yield %0 : " + y,
                     {y});
}

template <typename In, typename Out>
std::vector<Out> reduceRows(const std::string &text, std::vector<In> x, int64_t rows) {
  Kernels kernels(text);
  std::vector<Out> y(rows);
  auto length = static_cast<int64_t>(x.size()) / rows;
  call(kernels.function(), rows, length, {{x.data(), length, 1}, {y.data(), 1, 0}});
  return y;
}

TEST(Reduce, EveryKind) {
  std::vector<float> x = {1, 2, 3, -4, 5, 6};
  using testing::ElementsAre;
  EXPECT_THAT((reduceRows<float, float>(reduceText("f32", 0, "f32"), x, 2)), ElementsAre(6, 7));
  EXPECT_THAT((reduceRows<float, float>(reduceText("f32", 1, "f32"), x, 2)), ElementsAre(6, -120));
  EXPECT_THAT((reduceRows<float, float>(reduceText("f32", 2, "f32"), x, 2)), ElementsAre(3, 6));
  EXPECT_THAT((reduceRows<float, float>(reduceText("f32", 3, "f32"), x, 2)), ElementsAre(1, -4));
  EXPECT_THAT((reduceRows<float, uint8_t>(reduceText("f32", 4, "i1"), {0, 0, 0, 0, NAN, 0}, 2)), ElementsAre(0, 1));
  EXPECT_THAT((reduceRows<float, uint8_t>(reduceText("f32", 5, "i1"), {1, 2, 3, 4, 0, 5}, 2)), ElementsAre(1, 0));
  EXPECT_THAT((reduceRows<int64_t, int64_t>(reduceText("i64", 2, "i64"), {-5, -3, -9, INT64_MAX, 1, 0}, 2)),
              ElementsAre(-3, INT64_MAX));
  EXPECT_THAT((reduceRows<uint8_t, uint8_t>(reduceText("ui8", 2, "ui8"), {200, 3, 1, 7, 255, 0}, 2)),
              ElementsAre(200, 255));
  EXPECT_THAT((reduceRows<uint8_t, uint8_t>(reduceText("i1", 5, "i1"), {1, 1, 1, 1, 0, 1}, 2)), ElementsAre(1, 0));
}

TEST(Reduce, SumOf16BitFloatsIsAccumulatedIn32) {
  // 4096 ones: a bf16 accumulator would stop at 256.
  std::vector<uint16_t> ones(4096, 0x3F80);
  EXPECT_THAT((reduceRows<uint16_t, uint16_t>(reduceText("bf16", 0, "bf16"), ones, 1)), testing::ElementsAre(0x4580));
}

TEST(Reduce, NanWinsAndEmptyRowsHaveASum) {
  std::vector<float> x = randomFloats(500);
  x[321] = NAN;
  for (int kind : {2, 3}) {
    std::vector<float> y = reduceRows<float, float>(reduceText("f32", kind, "f32"), x, 5);
    for (size_t i = 0; i < 5; ++i)
      EXPECT_EQ(std::isnan(y[i]), i == 3);
  }
  EXPECT_THAT((reduceRows<float, float>(reduceText("f32", 0, "f32"), {}, 3)), testing::Each(0.0f));
}

TEST(Reduce, LongSumIsAccurate) {
  std::vector<float> x(1 << 20, 0.1f);
  EXPECT_NEAR((reduceRows<float, float>(reduceText("f32", 0, "f32"), x, 1)[0]), 0.1f * (1 << 20), 1);
}

} // namespace
} // namespace ingot::codegen
