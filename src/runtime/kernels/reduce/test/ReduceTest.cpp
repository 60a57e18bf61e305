#include "runtime/kernels/elementwise/test/TestKernel.h"

#include <limits>

namespace ingot::test {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;
const double nan = std::numeric_limits<double>::quiet_NaN();

Case reduce(Tensor x, std::string kind, List dims, DType result) {
  return {"reduce", {std::move(x)}, {{"kind", kind}, {"dims", dims}}, {result}};
}

Values valuesOf(const Case &testCase) {
  auto result = testCase.run();
  EXPECT_TRUE(result) << (result ? "" : result.error().str());
  return result ? (*result)[0].values() : Values{};
}

TEST(Reduce, KnowsEveryKind) {
  const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 0, 6});
  EXPECT_EQ(valuesOf(reduce(x, "sum", {1}, DType::Float32)), (Values{6, 10}));
  EXPECT_EQ(valuesOf(reduce(x, "prod", {0}, DType::Float32)), (Values{4, 0, 18}));
  EXPECT_EQ(valuesOf(reduce(x, "max", {0, 1}, DType::Float32)), (Values{6}));
  EXPECT_EQ(valuesOf(reduce(x, "min", {1}, DType::Float32)), (Values{1, 0}));
  EXPECT_EQ(valuesOf(reduce(x, "any", {0}, DType::Bool)), (Values{1, 1, 1}));
  EXPECT_EQ(valuesOf(reduce(x, "all", {0}, DType::Bool)), (Values{1, 0, 1}));
  EXPECT_EQ(valuesOf(reduce(x, "sum", {}, DType::Float32)), x.values());
}

TEST(Reduce, NanWins) {
  const Tensor x = tensor({1, 3}, {1, nan, 3});
  EXPECT_TRUE(std::isnan(valuesOf(reduce(x, "max", {1}, DType::Float32))[0]));
  EXPECT_TRUE(std::isnan(valuesOf(reduce(x, "min", {1}, DType::Float32))[0]));
}

TEST(Reduce, WorksForEveryLayoutAndDimension) {
  const Tensor x = noise({3, 300, 5, 7}, 1, DType::Float64);
  for (List order : {List{0, 1, 2, 3}, {0, 2, 3, 1}, {3, 1, 0, 2}})
    for (List dims : {List{0}, {1}, {2}, {3}, {2, 3}, {0, 2}, {1, 3}, {0, 1, 2, 3}, {0, 2, 3}}) {
      auto got = reduce(inOrder(x, order), "sum", dims, DType::Float64).run();
      ASSERT_TRUE(got) << got.error().str();
      Tensor want = tensor((*got)[0].desc.sizes, {0}, DType::Float64);
      for (int64_t i = 0; i < x.desc.numel(); ++i) {
        const List at = {i / 10500, i / 35 % 300, i / 7 % 5, i % 7};
        int64_t target = 0;
        for (size_t d = 0; d < 4; ++d)
          target += want.desc.sizes[d] == 1 ? 0 : at[d] * want.desc.strides[d];
        want.data<double>()[target] += x.at(i);
      }
      expectNear((*got)[0], want, 1e-10);
    }
}

TEST(Reduce, SumsAreExact) {
  Tensor x = tensor({1 << 22}, {0.1});
  EXPECT_NEAR(valuesOf(reduce(x, "sum", {0}, DType::Float32))[0], 419430.4, 0.05);
  EXPECT_EQ(valuesOf(reduce(tensor({3}, {1, 1, 1}, DType::Bool), "sum", {0}, DType::Int64)), Values{3});
  EXPECT_EQ(valuesOf(reduce(tensor({2}, {100, 100}, DType::Int8), "sum", {0}, DType::Int8)), Values{-56});
  EXPECT_EQ(valuesOf(reduce(tensor({0, 2}, {0}), "sum", {0}, DType::Float32)), (Values{0, 0}));
  EXPECT_FALSE(reduce(tensor({0, 2}, {0}), "max", {0}, DType::Float32).run());
  EXPECT_FALSE(reduce(tensor({2}, {0}), "sum", {1}, DType::Float32).run());
  EXPECT_FALSE(reduce(tensor({2}, {0}), "sum", {0, 0}, DType::Float32).run());
}

TEST(Reduce, FindsPositions) {
  auto arg = [](Tensor x, int64_t axis, bool minimum) {
    return Case{"arg_reduce", {std::move(x)}, {{"axis", axis}, {"minimum", minimum}}, {DType::Int64}};
  };
  const Tensor x = tensor({2, 3}, {1, 5, 5, 4, 0, 0});
  EXPECT_EQ(valuesOf(arg(x, 1, false)), (Values{1, 0}));
  EXPECT_EQ(valuesOf(arg(x, 1, true)), (Values{0, 1}));
  EXPECT_EQ(valuesOf(arg(x, 0, false)), (Values{1, 0, 0}));
  EXPECT_EQ(valuesOf(arg(tensor({4}, {1, nan, 3, nan}), 0, false)), (Values{1}));
  EXPECT_FALSE(arg(tensor({0}, {0}), 0, false).run());
}

TEST(Reduce, SumsUp) {
  Case testCase{"cumsum", {tensor({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"axis", int64_t(1)}}};
  EXPECT_EQ(valuesOf(testCase), (Values{1, 3, 6, 4, 9, 15}));
  testCase.attributes["axis"] = int64_t(0);
  EXPECT_EQ(valuesOf(testCase), (Values{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(valuesOf({"cumsum", {tensor({2}, {1, 1}, DType::Bool)}, {{"axis", int64_t(0)}}, {DType::Int64}}),
            (Values{1, 2}));
}

} // namespace
} // namespace ingot::test
