#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;

Tensor indices(List sizes, const Values &values) { return tensor(std::move(sizes), values, DType::Int64); }

TEST(Index, SelectsRows) {
  const Tensor table = tensor({3, 2}, {0, 1, 10, 11, 20, 21});
  auto result = Case{"index_select", {table, indices({2, 2}, {2, 0, -1, 1})}, {{"axis", int64_t(0)}}}.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].desc.sizes, (List{2, 2, 2}));
  EXPECT_EQ((*result)[0].values(), (Values{20, 21, 0, 1, 20, 21, 10, 11}));
  auto columns = Case{"index_select", {table, tensor({1}, {1}, DType::Int32)}, {{"axis", int64_t(1)}}}.run();
  ASSERT_TRUE(columns);
  EXPECT_EQ((*columns)[0].values(), (Values{1, 11, 21}));
}

TEST(Index, NamesWhatIsOutOfRange) {
  auto result = Case{"index_select", {tensor({3, 2}, {0}), indices({2}, {1, 3})}, {{"axis", int64_t(0)}}}.run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Usage);
  EXPECT_EQ(result.error().message, "index_select: index 3 at position 1 is out of range for a dimension of size 3");
  EXPECT_FALSE((Case{"gather", {tensor({3}, {0}), indices({1}, {-4})}, {{"axis", int64_t(0)}}}.run()));
  EXPECT_FALSE((Case{"index_select", {tensor({3}, {0}), tensor({1}, {0})}, {{"axis", int64_t(0)}}}.run()));
  EXPECT_FALSE((Case{"index_select", {tensor({3}, {0}), indices({1}, {0})}, {{"axis", int64_t(1)}}}.run()));
}

TEST(Index, Gathers) {
  const Tensor x = tensor({2, 3}, {0, 1, 2, 10, 11, 12});
  auto result = Case{"gather", {x, indices({2, 2}, {2, 0, 1, 1})}, {{"axis", int64_t(1)}}}.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].values(), (Values{2, 0, 11, 11}));
  auto down = Case{"gather", {x, indices({1, 2}, {1, 0})}, {{"axis", int64_t(0)}}}.run();
  ASSERT_TRUE(down);
  EXPECT_EQ((*down)[0].values(), (Values{10, 1}));
}

TEST(Index, BroadcastsIndices) {
  const Tensor x = tensor({2, 2, 3}, {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112});
  auto result = Case{"index", {x, indices({2, 1}, {0, 1}), indices({2}, {2, 0})}, {{"axes", List{1, 2}}}}.run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].desc.sizes, (List{2, 2, 2}));
  EXPECT_EQ((*result)[0].values(), (Values{2, 0, 12, 10, 102, 100, 112, 110}));
  EXPECT_FALSE((Case{"index", {x, indices({1}, {0}), indices({1}, {0})}, {{"axes", List{0, 2}}}}.run()));
}

} // namespace
} // namespace ingot::test
