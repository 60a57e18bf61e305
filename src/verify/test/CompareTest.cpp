#include "verify/Compare.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <span>

using namespace ingot;
using namespace ingot::verify;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

template <typename T> Value valueOf(DType dtype, std::vector<int64_t> shape, std::vector<T> elements) {
  auto bytes = std::as_bytes(std::span(elements));
  auto memory = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  return {dtype, std::move(shape), *memory, memory};
}

Value floats(std::vector<float> elements) {
  int64_t count = static_cast<int64_t>(elements.size());
  return valueOf<float>(DType::Float32, {count}, std::move(elements));
}

Value longs(std::vector<int64_t> elements) {
  int64_t count = static_cast<int64_t>(elements.size());
  return valueOf<int64_t>(DType::Int64, {count}, std::move(elements));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Compare, FloatsWithinTheToleranceOfTheirType) {
  EXPECT_FALSE(compare(floats({1, 2}), floats({1.000005F, 2})).departs());
  Difference difference = compare(floats({1, 2}), floats({1, 2.001F}));
  EXPECT_TRUE(difference.departs());
  EXPECT_EQ(difference.count, 1);
  EXPECT_THAT(difference.where, ElementsAre(1));
  EXPECT_NEAR(difference.largest, 0.001, 1e-6);
  EXPECT_EQ(difference.eager, "2");
}

TEST(Compare, TheLargestElementAllowsForRoundingOfSums) {
  EXPECT_FALSE(compare(floats({0, 1000}), floats({0.001F, 1000})).departs());
  EXPECT_TRUE(compare(floats({0, 1}), floats({0.001F, 1})).departs());
  EXPECT_TRUE(compare(floats({0, 1000}), floats({0.001F, 1000}), Tolerance{1e-6, 1e-6, 0}).departs());
}

TEST(Compare, NanEqualsNanAndNothingElse) {
  EXPECT_FALSE(compare(floats({kNan, kInf}), floats({-kNan, kInf})).departs());
  EXPECT_TRUE(compare(floats({kNan}), floats({1})).departs());
  EXPECT_TRUE(compare(floats({kInf}), floats({-kInf})).departs());
  EXPECT_TRUE(compare(floats({kInf}), floats({3e38F})).departs());
}

TEST(Compare, IntegersAreExactAlsoAbove53Bits) {
  int64_t large = (int64_t(1) << 60) + 1;
  EXPECT_FALSE(compare(longs({large}), longs({large})).departs());
  EXPECT_TRUE(compare(longs({large}), longs({large + 1})).departs());
  EXPECT_TRUE(compare(longs({1}), longs({2}), Tolerance{1, 10, 0}, 100).departs());
}

TEST(Compare, TypesAndShapes) {
  EXPECT_THAT(compare(floats({1}), longs({1})).problem, HasSubstr("eager gives float32 [1], Ingot int64 [1]"));
  EXPECT_TRUE(compare(floats({1, 2}), valueOf<float>(DType::Float32, {2, 1}, {1, 2})).departs());
  EXPECT_FALSE(compare(floats({}), floats({})).departs());
}

TEST(Compare, ScaleWidensTheTolerance) {
  Value eager = floats({1}), ours = floats({1.0001F});
  double ratio = compare(eager, ours).ratio;
  EXPECT_GT(ratio, 1);
  EXPECT_FALSE(compare(eager, ours, std::nullopt, ratio * 1.01).departs());
}

TEST(Compare, SmallFloatsAreDecoded) {
  auto first = [](DType dtype, std::vector<uint8_t> bytes) {
    int64_t count = static_cast<int64_t>(bytes.size() / byteSize(dtype));
    return statisticsOf(valueOf<uint8_t>(dtype, {count}, std::move(bytes))).first;
  };
  EXPECT_THAT(first(DType::Float16, {0x00, 0x3c, 0x00, 0xc0, 0x00, 0x7c}), ElementsAre("1", "-2", "inf"));
  EXPECT_THAT(first(DType::BFloat16, {0x80, 0x3f, 0xc0, 0x7f}), ElementsAre("1", "nan"));
  EXPECT_THAT(first(DType::Float8E4M3FN, {0x38, 0x7e, 0x7f}), ElementsAre("1", "448", "nan"));
  EXPECT_THAT(first(DType::Float8E5M2, {0x3c, 0x7c}), ElementsAre("1", "inf"));
  EXPECT_THAT(first(DType::Float8E4M3FNUZ, {0x40, 0x80}), ElementsAre("1", "nan"));
  EXPECT_THAT(first(DType::Float8E8M0FNU, {127, 128}), ElementsAre("1", "2"));
}

TEST(Compare, StatisticsLeaveOutWhatIsNotFinite) {
  Statistics statistics = statisticsOf(floats({1, kNan, 3, kInf}));
  EXPECT_EQ(statistics.min, 1);
  EXPECT_EQ(statistics.max, 3);
  EXPECT_EQ(statistics.mean, 2);
  EXPECT_EQ(statistics.nans, 1);
  EXPECT_EQ(statistics.infinities, 1);
  EXPECT_TRUE(std::isnan(statisticsOf(floats({})).mean));
}

} // namespace
