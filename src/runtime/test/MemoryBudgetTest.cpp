#include "runtime/MemoryBudget.h"

#include "TestPlan.h"

#include <gmock/gmock.h>

namespace ingot {
namespace {

using testing::HasSubstr;

TEST(MemoryBudget, CountsOwnersOnce) {
  MemoryBudget budget(100);
  int a = 0;
  int b = 0;
  budget.hold(&a, 40);
  budget.hold(&a, 40);
  EXPECT_TRUE(budget.check(60, "it"));
  budget.hold(&b, 30);
  Status status = budget.check(31, "it");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(status.error().str(), HasSubstr("it needs 101 bytes of memory, the limit is 100"));
  EXPECT_FALSE(budget.check(UINT64_MAX, "it")) << "does not wrap around";
  EXPECT_TRUE(MemoryBudget().check(UINT64_MAX, "it"));
}

/// x of so many floats ► x + x ► twice that, in one buffer.
ProgramSource program(std::vector<int64_t> shape, std::vector<std::string> dims = {}) {
  test::FunctionBuilder builder;
  ValueId x = builder.input("x", shape, std::move(dims));
  ValueId sum = builder.cluster(test::kAdd, {x, x}, builder.tensor(shape));
  builder.output("y", builder.cluster(test::kTwice, {sum}, builder.tensor(shape)));
  return test::sourceOf(std::move(builder.function));
}

TEST(MemoryBudget, FixedSizesAreRefusedWhenLoading) {
  ProgramSource source = program({1000});
  source.memoryLimit = 3999;
  Result<std::shared_ptr<Program>> refused = Program::create(source);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().str(), HasSubstr("the limit is 3999"));
  source.memoryLimit = 8192;
  Result<std::shared_ptr<Program>> loaded = Program::create(source);
  ASSERT_TRUE(loaded) << loaded.error().str();
  std::vector<float> x(1000, 1.0f);
  std::vector<TensorView> inputs = {test::viewOf(x, {1000})};
  EXPECT_TRUE((*loaded)->run("", inputs));
}

TEST(MemoryBudget, OtherSizesAreRefusedWhenCalled) {
  ProgramSource source = program({kDynamic}, {"n"});
  source.memoryLimit = 7999;
  Result<std::shared_ptr<Program>> loaded = Program::create(source);
  ASSERT_TRUE(loaded) << loaded.error().str();
  std::vector<float> x(2000, 1.0f);
  std::vector<TensorView> small = {test::viewOf(x, {1000})};
  std::vector<TensorView> large = {test::viewOf(x, {2000})};
  EXPECT_TRUE((*loaded)->run("", small));
  auto refused = (*loaded)->run("", large);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().str(), HasSubstr("this call of `forward` needs"));
  EXPECT_TRUE((*loaded)->run("", small)) << "the program stays usable";
}

TEST(MemoryBudget, WeightsCount) {
  test::FunctionBuilder builder;
  ValueId x = builder.input("x", {4});
  ValueId w = builder.tensor({4});
  builder.function.constants.push_back({w, "w", {}});
  builder.output("y", builder.cluster(test::kAdd, {x, w}, builder.tensor({4})));
  ProgramSource source = test::sourceOf(std::move(builder.function));
  static const std::vector<float> weight = {1, 2, 3, 4};
  source.findWeight = [](std::string_view) -> std::optional<WeightView> {
    return WeightView{DType::Float32, {4}, std::as_bytes(std::span(weight))};
  };
  source.memoryLimit = 15;
  Result<std::shared_ptr<Program>> refused = Program::create(source);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().str(), HasSubstr("the program needs 16 bytes"));
}

} // namespace
} // namespace ingot
