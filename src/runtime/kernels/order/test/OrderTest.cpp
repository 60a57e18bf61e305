#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;

const double kNan = std::nan("");
const std::vector<DType> kPair = {DType::Float32, DType::Int64};

Result<std::vector<Tensor>> runPair(const std::string &kernel, const Tensor &x, Attributes attributes) {
  return Case{kernel, {x}, std::move(attributes), kPair}.run();
}

TEST(Order, SortsWithNanLastAndEqualsInOrder) {
  auto result =
      runPair("sort", tensor({5}, {2, kNan, 1, 2, 0}), {{"axis", int64_t(0)}, {"descending", false}, {"stable", true}});
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[1].values(), (Values{4, 2, 0, 3, 1}));
  auto falling =
      runPair("sort", tensor({5}, {2, kNan, 1, 2, 0}), {{"axis", int64_t(0)}, {"descending", true}, {"stable", true}});
  ASSERT_TRUE(falling);
  EXPECT_EQ((*falling)[1].values(), (Values{1, 0, 3, 2, 4}));
}

TEST(Order, SortsAlongTheFirstDimension) {
  auto result = runPair("sort", tensor({3, 2}, {3, 1, 2, 5, 1, 0}),
                        {{"axis", int64_t(0)}, {"descending", false}, {"stable", true}});
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)[0].values(), (Values{1, 0, 2, 1, 3, 5}));
}

TEST(Order, TakesTheLargest) {
  const Attributes attributes = {{"axis", int64_t(0)}, {"k", List{2}}, {"largest", true}, {"sorted", true}};
  auto result = runPair("topk", tensor({4}, {1, 4, 3, 2}), attributes);
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values(), (Values{4, 3}));
  EXPECT_FALSE(runPair("topk", tensor({1}, {1}), attributes));
}

TEST(Order, PicksByRank) {
  auto kth = runPair("kth_value", tensor({4}, {1, 4, 3, 2}), {{"axis", int64_t(0)}, {"k", List{3}}});
  ASSERT_TRUE(kth) << kth.error().str();
  EXPECT_EQ((*kth)[0].values(), Values{3});
  EXPECT_FALSE(runPair("kth_value", tensor({4}, {1}), {{"axis", int64_t(0)}, {"k", List{5}}}));
  auto median = runPair("median", tensor({4}, {1, kNan, 3, 2}), {{"axis", int64_t(0)}, {"ignore_nan", true}});
  ASSERT_TRUE(median);
  EXPECT_EQ((*median)[1].values(), Values{3});
  auto mode = runPair("mode", tensor({5}, {2, 1, 2, 1, 0}), {{"axis", int64_t(0)}});
  ASSERT_TRUE(mode);
  EXPECT_EQ((*mode)[0].values(), Values{1});
}

TEST(Order, RunsAlong) {
  auto product = Case{"cum_reduce", {tensor({3}, {2, 3, 4})}, {{"axis", int64_t(0)}, {"kind", "prod"}}}.run();
  ASSERT_TRUE(product) << product.error().str();
  EXPECT_EQ((*product)[0].values(), (Values{2, 6, 24}));
  auto highest = runPair("cum_extreme", tensor({4}, {1, 3, 3, 2}), {{"axis", int64_t(0)}, {"minimum", false}});
  ASSERT_TRUE(highest);
  EXPECT_EQ((*highest)[1].values(), (Values{0, 1, 2, 2}));
}

TEST(Order, SearchesAndReducesPieces) {
  const Tensor row = tensor({4}, {1, 2, 2, 3}), values = tensor({3}, {2, 0, 9});
  auto places = Case{"search_sorted", {row, values}, {{"right", false}}, {DType::Int64}}.run();
  ASSERT_TRUE(places) << places.error().str();
  EXPECT_EQ((*places)[0].values(), (Values{1, 0, 4}));
  Attributes attributes = {{"axis", int64_t(0)}, {"kind", "mean"}, {"initial", 0.0}, {"has_initial", false}};
  const Tensor offsets = tensor({3}, {0, 3, 4}, DType::Int64), outside = tensor({3}, {0, 3, 5}, DType::Int64);
  auto means = Case{"segment_reduce", {tensor({4}, {1, 2, 3, 5}), offsets}, attributes}.run();
  ASSERT_TRUE(means) << means.error().str();
  EXPECT_EQ((*means)[0].values(), (Values{2, 5}));
  EXPECT_FALSE((Case{"segment_reduce", {tensor({4}, {1, 2, 3, 5}), outside}, attributes}.run()));
}

} // namespace
} // namespace ingot::test
