// The reference kernels: broadcasting, layouts, types, refusals. What an op computes is in ScalarTest.
#include "runtime/kernels/elementwise/test/TestKernel.h"

namespace ingot::test {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;

Case binary(std::string kernel, Tensor a, Tensor b, DType result = DType::Float32) {
  return {std::move(kernel), {std::move(a), std::move(b)}, {}, {result}};
}

TEST(Elementwise, EveryOpRunsForEveryTypeItLists) {
  auto check = [](const char *kernel, size_t arity, bool isPredicate) {
    size_t supported = 0;
    for (DType dtype : {DType::Bool, DType::UInt8, DType::Int8, DType::Int16, DType::Int32, DType::Int64, DType::UInt16,
                        DType::UInt32, DType::UInt64, DType::Float16, DType::BFloat16, DType::Float32, DType::Float64,
                        DType::Float8E4M3FN, DType::Float8E5M2}) {
      Case testCase{kernel, {}, {}, {isPredicate ? DType::Bool : dtype}};
      for (size_t i = 0; i < arity; ++i)
        testCase.operands.push_back(noise({2, 3}, static_cast<unsigned>(i), dtype));
      supported += static_cast<bool>(testCase.run());
    }
    EXPECT_GE(supported, 6u) << kernel;
  };
#define SCALAR_UNARY(op, kinds) check(#op, 1, false);
#define SCALAR_TEST(op, kinds) check(#op, 1, true);
#define SCALAR_BINARY(op, kinds) check(#op, 2, false);
#define SCALAR_COMPARE(op, kinds) check(#op, 2, true);
#include "runtime/kernels/elementwise/scalar_ops.inc"
}

TEST(Elementwise, Broadcasts) {
  auto result = binary("add", tensor({2, 1}, {10, 20}), tensor({3}, {1, 2, 3})).run();
  ASSERT_TRUE(result) << result.error().str();
  EXPECT_EQ((*result)[0].desc.sizes, (List{2, 3}));
  EXPECT_EQ((*result)[0].values(), (Values{11, 12, 13, 21, 22, 23}));
  auto scalar = binary("mul", tensor({}, {3}), tensor({2}, {1, 2})).run();
  ASSERT_TRUE(scalar);
  EXPECT_EQ((*scalar)[0].values(), (Values{3, 6}));
  EXPECT_FALSE(binary("add", noise({2}, 1), noise({3}, 2)).run());
}

TEST(Elementwise, EveryLayoutGivesTheSame) {
  const Tensor a = noise({2, 3, 4, 5}, 1), b = noise({2, 3, 4, 5}, 2);
  auto want = binary("sub", a, b).run();
  ASSERT_TRUE(want);
  for (List order : {List{0, 2, 3, 1}, {3, 2, 1, 0}, {1, 0, 3, 2}}) {
    auto got = binary("sub", inOrder(a, order), b).run();
    ASSERT_TRUE(got);
    expectNear((*got)[0], (*want)[0], 0);
    EXPECT_EQ((*got)[0].desc.strides, inOrder(a, order).desc.strides);
  }
}

TEST(Elementwise, SelectsAndCasts) {
  Case select{"select", {tensor({3}, {1, 0, 1}, DType::Bool), tensor({3}, {1, 2, 3}), tensor({}, {9})}};
  auto selected = select.run();
  ASSERT_TRUE(selected) << selected.error().str();
  EXPECT_EQ((*selected)[0].values(), (Values{1, 9, 3}));
  auto cast = Case{"cast", {tensor({3}, {1.7, -1.7, 0})}, {}, {DType::Int64}}.run();
  ASSERT_TRUE(cast);
  EXPECT_EQ((*cast)[0].values(), (Values{1, -1, 0}));
}

TEST(Elementwise, RefusesWrongTypes) {
  EXPECT_FALSE(binary("add", noise({2}, 1), noise({2}, 2, DType::Float64)).run());
  EXPECT_FALSE(binary("add", noise({2}, 1), noise({2}, 2), DType::Int64).run());
  EXPECT_FALSE(binary("lt", noise({2}, 1), noise({2}, 2), DType::Float32).run());
  EXPECT_FALSE((Case{"exp", {noise({2}, 1, DType::Int64)}, {}, {DType::Int64}}.run()));
  EXPECT_FALSE((Case{"add", {noise({2}, 1), std::nullopt}}.run()));
}

} // namespace
} // namespace ingot::test
