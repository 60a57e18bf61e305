#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;

Tensor positions(List sizes, const Values &values) { return tensor(std::move(sizes), values, DType::Int64); }

Attributes scatterAttributes(const std::string &reduce, bool includeSelf) {
  return {{"axis", int64_t(0)}, {"axes", List{0}}, {"reduce", reduce}, {"include_self", includeSelf}};
}

Values scattered(const std::string &reduce, bool includeSelf) {
  const Tensor x = tensor({3}, {10, 20, 30}), index = positions({3}, {0, 0, 2}), source = tensor({3}, {2, 4, 5});
  auto result = Case{"scatter", {x, index, source}, scatterAttributes(reduce, includeSelf)}.run();
  EXPECT_TRUE(result) << result.error().str();
  return (*result)[0].values();
}

TEST(Scatter, Combines) {
  EXPECT_EQ(scattered("none", true), (Values{4, 20, 5}));
  EXPECT_EQ(scattered("add", true), (Values{16, 20, 35}));
  EXPECT_EQ(scattered("add", false), (Values{6, 20, 5}));
  EXPECT_EQ(scattered("prod", true), (Values{80, 20, 150}));
  EXPECT_EQ(scattered("mean", false), (Values{3, 20, 5}));
  EXPECT_EQ(scattered("amax", false), (Values{4, 20, 5}));
  EXPECT_EQ(scattered("amin", true), (Values{2, 20, 5}));
}

/// Three rows of which the first two go to row 1, by an index that is expanded over the last two dimensions.
Tensor expandedRows(int64_t columns) {
  Tensor index = positions({3, 1, 1}, {1, 1, 0});
  index.desc.sizes = {3, 2, columns};
  index.desc.strides = {1, 0, 0};
  return index;
}

TEST(Scatter, TakesAnExpandedIndexInRuns) {
  const Tensor x = tensor({2, 2, 2}, {0}), source = tensor({3, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40, 5, 6, 7, 8});
  const Values all = {5, 6, 7, 8, 11, 22, 33, 44};
  for (const std::vector<int64_t> &order : {List{0, 1, 2}, List{0, 2, 1}, List{2, 1, 0}}) {
    auto result =
        Case{"scatter", {inOrder(x, order), expandedRows(2), inOrder(source, order)}, scatterAttributes("add", true)}
            .run();
    ASSERT_TRUE(result) << result.error().str();
    EXPECT_EQ((*result)[0].values(), all);
  }
  auto some = Case{"scatter", {x, expandedRows(1), source}, scatterAttributes("add", true)}.run();
  ASSERT_TRUE(some) << some.error().str();
  EXPECT_EQ((*some)[0].values(), (Values{5, 0, 7, 0, 11, 0, 33, 0}));
}

TEST(Scatter, RefusesWhatDoesNotFit) {
  const Tensor x = tensor({3}, {0}), far = positions({1}, {3}), source = tensor({1}, {2});
  EXPECT_FALSE((Case{"scatter", {x, far, source}, scatterAttributes("add", true)}.run()));
  EXPECT_FALSE((Case{"scatter", {x, positions({1}, {0}), source}, scatterAttributes("sub", true)}.run()));
  EXPECT_FALSE((Case{"scatter", {x, positions({2}, {0, 1}), source}, scatterAttributes("add", true)}.run()));
  EXPECT_FALSE((Case{"index_put", {x, tensor({2}, {1}), positions({1}, {0})}, scatterAttributes("add", true)}.run()));
}

TEST(Scatter, PutsRows) {
  const Tensor x = tensor({2, 2}, {1, 2, 3, 4}), rows = tensor({3, 2}, {1, 1, 2, 2, 3, 3});
  auto result = Case{"index_put", {x, rows, positions({3}, {0, -2, 1})}, scatterAttributes("add", true)}.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values(), (Values{4, 5, 6, 7}));
}

TEST(Scatter, FindsWhatIsNotZero) {
  const Attributes attributes = {{"rows", List{3}}, {"fill", int64_t(-1)}};
  auto result = Case{"nonzero_static", {tensor({2, 2}, {0, 1, 1, 0})}, attributes, {DType::Int64}}.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values(), (Values{0, 1, 1, 0, -1, -1}));
}

TEST(Scatter, SeesBytesAsOtherElements) {
  auto result = Case{"bitcast", {tensor({1}, {1})}, {}, {DType::Int32}}.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values(), Values{0x3F800000});
  EXPECT_FALSE((Case{"bitcast", {tensor({1}, {1})}, {}, {DType::Float64}}.run()));
}

} // namespace
} // namespace ingot::test
