#include "runtime/Binding.h"

#include "runtime/test/TestPlan.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace ingot::test {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

Result<std::shared_ptr<const Binding>> bind(const Function &function, std::vector<TensorDesc> inputs) {
  BindEnvironment environment{function, {}, findTestSymbol, {}};
  environment.known.resize(function.values.size());
  for (const Constant &constant : function.constants) {
    const Value &type = function.values[static_cast<size_t>(constant.value)];
    environment.known[static_cast<size_t>(constant.value)] =
        KnownValue{TensorDesc::contiguous(type.dtype, type.shape), constant.bytes.data(), constant.bytes.size(), {}};
  }
  std::vector<InputDesc> descs;
  for (TensorDesc &input : inputs)
    descs.push_back({std::move(input), {}});
  return Binding::bind(environment, descs);
}

TensorDesc floats(std::vector<int64_t> sizes) { return TensorDesc::contiguous(DType::Float32, std::move(sizes)); }

size_t countBuffers(const Binding &binding, BufferKind kind) {
  return static_cast<size_t>(std::ranges::count(binding.buffers(), kind, &Buffer::kind));
}

TEST(Binding, ResultsGoStraightToOutputs) {
  FunctionBuilder b;
  ValueId x = b.input("x", {4, 6});
  ValueId y = b.cluster(kTwice, {x}, b.tensor({4, 6}));
  b.output("flat", b.step("reshape", {y}, b.tensor({24}), {{"sizes", Ints{24}}}));
  auto binding = bind(b.function, {floats({4, 6})});
  ASSERT_OK(binding);
  EXPECT_EQ((*binding)->steps().size(), 1u); // neither the reshape nor a copy
  EXPECT_EQ((*binding)->arenaBytes(), 0u);
}

TEST(Binding, ViewsAndSharedValuesAreCopiedOut) {
  FunctionBuilder b;
  ValueId x = b.input("x", {4, 6});
  ValueId y = b.cluster(kTwice, {x}, b.tensor({4, 6}));
  b.output("a", y);
  b.output("b", y);
  b.output("t", b.step("permute", {y}, b.tensor({6, 4}), {{"dims", Ints{1, 0}}}));
  b.output("x", x);
  auto binding = bind(b.function, {floats({4, 6})});
  ASSERT_OK(binding);
  EXPECT_EQ((*binding)->steps().size(), 4u);
  EXPECT_EQ(countBuffers(**binding, BufferKind::Output), 4u);
}

TEST(Binding, CopiesOnceForKernelsThatNeedRowMajor) {
  FunctionBuilder b;
  ValueId x = b.input("x", {4, 6});
  ValueId t = b.step("permute", {x}, b.tensor({6, 4}), {{"dims", Ints{1, 0}}});
  Attributes attributes = {{"sizes", Ints{3}}, {"strides", Ints{1}}, {"offset", int64_t(0)}};
  ValueId p = b.step("as_strided", {t}, b.tensor({3}), attributes);
  ValueId q = b.step("as_strided", {t}, b.tensor({3}), attributes);
  b.output("sum", b.cluster(kAdd, {p, q}, b.tensor({3})));
  auto binding = bind(b.function, {floats({4, 6})});
  ASSERT_OK(binding);
  EXPECT_EQ((*binding)->steps().size(), 2u);
}

TEST(Binding, ReusesMemoryInPlaceAndAcrossSteps) {
  FunctionBuilder b;
  ValueId v = b.input("x", {1000});
  for (int i = 0; i < 10; ++i)
    v = b.cluster(kTwice, {v}, b.tensor({1000}));
  b.output("y", v);
  auto chain = bind(b.function, {floats({1000})});
  ASSERT_OK(chain);
  EXPECT_EQ((*chain)->arenaBytes(), 0u); // everything happens in the output

  FunctionBuilder c;
  v = c.input("x", {100, 10});
  for (int i = 0; i < 10; ++i) { // a transposed operand cannot be overwritten
    ValueId t = c.step("permute", {v}, c.tensor({10, 100}), {{"dims", Ints{1, 0}}});
    ValueId r = c.step("reshape", {t}, c.tensor({100, 10}), {{"sizes", Ints{100, 10}}});
    v = c.cluster(kTwice, {r}, c.tensor({100, 10}));
  }
  c.output("y", v);
  auto mixed = bind(c.function, {floats({100, 10})});
  ASSERT_OK(mixed);
  EXPECT_LE((*mixed)->arenaBytes(), 2 * 4096u);
  EXPECT_GE((*mixed)->unsharedBytes(), 8 * 4000u);
}

TEST(Binding, NeverOverwritesWhatIsStillRead) {
  FunctionBuilder b;
  ValueId x = b.input("x", {3, 3});
  ValueId y = b.cluster(kTwice, {x}, b.tensor({3, 3}));
  ValueId t = b.step("permute", {y}, b.tensor({3, 3}), {{"dims", Ints{1, 0}}});
  b.output("s", b.cluster(kAdd, {y, t}, b.tensor({3, 3}))); // y and its transpose share memory
  auto program = Program::create(sourceOf(b.function));
  ASSERT_OK(program);
  std::vector<float> data = count<float>(9);
  std::vector<TensorView> inputs = {viewOf(data, {3, 3})};
  auto outputs = (*program)->run("", inputs);
  ASSERT_OK(outputs);
  EXPECT_EQ(contentOf((*outputs)[0]), (std::vector<float>{0, 8, 16, 8, 16, 24, 16, 24, 32}));
}

TEST(Binding, ChecksResultsAgainstThePlan) {
  FunctionBuilder b;
  ValueId x = b.input("x", {kDynamic, 6});
  b.output("y", b.step("permute", {x}, b.tensor({6, 5}), {{"dims", Ints{1, 0}}}));
  ASSERT_OK(bind(b.function, {floats({5, 6})}));
  auto wrong = bind(b.function, {floats({4, 6})});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().str(), HasSubstr("float32[6, 4], the plan says float32[6, 5]"));
  EXPECT_THAT(wrong.error().str(), HasSubstr("node `node_permute`, model.py:7"));
}

TEST(Binding, EmptyTensorsNeedNoKernels) {
  FunctionBuilder b;
  ValueId x = b.input("x", {kDynamic, 6});
  b.output("y", b.cluster("nowhere", {x}, b.tensor({kDynamic, 6})));
  auto binding = bind(b.function, {floats({0, 6})});
  ASSERT_OK(binding);
  EXPECT_TRUE((*binding)->steps().empty());
}

TEST(Binding, SymbolicNumbers) {
  FunctionBuilder b;
  ValueId x = b.input("x", {kDynamic, 4});
  ValueId n = b.step("dim", {x}, b.scalar(), {{"axis", int64_t(0)}});
  ValueId two = b.step("arith.constant", {}, b.scalar(), {{"value", int64_t(2)}});
  ValueId half = b.step("arith.floordivsi", {n, two}, b.scalar());
  b.output("y", b.step("reshape", {x, half}, b.tensor({kDynamic, 8}), {{"sizes", Ints{kDynamicEntry, 8}}}));
  b.output("n", half);
  ASSERT_OK(bind(b.function, {floats({6, 4})}));
  EXPECT_FALSE(bind(b.function, {floats({5, 4})})); // 20 elements do not make rows of 8
}

TEST(Binding, NumbersAreNoTensors) {
  FunctionBuilder b;
  ValueId x = b.input("x", {kDynamic, 4});
  b.output("n", b.step("dim", {x}, b.tensor({}, DType::Int64), {{"axis", int64_t(0)}}));
  auto wrong = bind(b.function, {floats({6, 4})});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::Corrupt);
}

TEST(Binding, RefusesSizesThatOverflow) {
  FunctionBuilder b;
  ValueId x = b.input("x", {1});
  ValueId e = b.step("expand", {x}, b.tensor({kDynamic}), {{"sizes", Ints{INT64_MAX / 2}}});
  b.output("y", e);
  EXPECT_FALSE(bind(b.function, {floats({1})}));
}

} // namespace
} // namespace ingot::test
