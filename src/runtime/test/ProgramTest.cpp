#include "runtime/Program.h"

#include "runtime/States.h"
#include "runtime/test/TestPlan.h"
#include "runtime/threads/Pool.h"

#include <gmock/gmock.h>
#include <thread>

namespace ingot::test {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

std::shared_ptr<Program> make(ProgramSource source) {
  auto program = Program::create(std::move(source));
  EXPECT_TRUE(program) << program.error().str();
  return program ? *program : nullptr;
}

/// y = 2 * (x + w): dynamic rows, a weight, a prepared constant.
FunctionBuilder exampleFunction() {
  FunctionBuilder b;
  ValueId x = b.input("x", {kDynamic, 3}, {"rows", "3"});
  b.function.symbols = {{"rows", 2, 100}};
  ValueId w = b.tensor({3, 1});
  b.function.constants.push_back({w, "w", {}});
  ValueId t = b.prologue("permute", {w}, b.tensor({1, 3}), {{"dims", Ints{1, 0}}});
  ValueId twice = b.tensor({1, 3});
  b.function.prologue.push_back({"cluster", {t}, {twice}, {{"symbol", kTwice}}, "", ""});
  ValueId sum = b.cluster(kAdd, {x, twice}, b.tensor({kDynamic, 3}));
  b.output("y", b.cluster(kTwice, {sum}, b.tensor({kDynamic, 3})));
  return b;
}

Floats weight = {10, 20, 30};

ProgramSource withWeights(ProgramSource source) {
  source.findWeight = [](std::string_view key) -> std::optional<WeightView> {
    if (key != "w")
      return std::nullopt;
    return WeightView{DType::Float32, {3, 1}, std::as_bytes(std::span(weight))};
  };
  return source;
}

TEST(Program, RunsWithWeightsAndPrologue) {
  auto program = make(withWeights(sourceOf(exampleFunction().function)));
  for (int64_t rows : {1, 2, 5, 2, 1}) {
    Floats data = count<float>(rows * 3);
    std::vector<TensorView> inputs = {viewOf(data, {rows, 3})};
    auto outputs = program->run("forward", inputs);
    ASSERT_OK(outputs);
    EXPECT_EQ((*outputs)[0].desc.sizes, (Ints{rows, 3}));
    Floats y = contentOf((*outputs)[0]);
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y[i], 2 * (data[i] + 2 * weight[i % 3]));
  }
}

TEST(Program, StridedAndReversedInputs) {
  auto program = make(withWeights(sourceOf(exampleFunction().function)));
  Floats data = count<float>(12);
  TensorView transposed{data.data(), {DType::Float32, {4, 3}, {1, 4}}};
  auto outputs = program->run("", std::vector{transposed});
  ASSERT_OK(outputs);
  EXPECT_EQ(contentOf((*outputs)[0])[1], 2 * (4 + 40));
  TensorView reversed{data.data() + 9, {DType::Float32, {4, 3}, {-3, 1}}};
  outputs = program->run("", std::vector{reversed});
  ASSERT_OK(outputs);
  EXPECT_EQ(contentOf((*outputs)[0])[0], 2 * (9 + 20));
  EXPECT_EQ(contentOf((*outputs)[0])[11], 2 * (2 + 60));
}

TEST(Program, ChecksItsCaller) {
  auto program = make(withWeights(sourceOf(exampleFunction().function)));
  Floats data(400);
  auto result = program->run("forwrd", std::vector{viewOf(data, {2, 3})});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("no entry point `forwrd`; did you mean `forward`?"));
  result = program->run("", std::vector{viewOf(data, {101, 3})});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "dim `rows` of input `x` is 101, allowed 2 to 100 (dimension 0)");
  EXPECT_FALSE(program->run("", {}));
  ASSERT_OK(program->run("", std::vector{viewOf(data, {2, 3})}));
  TensorView null = viewOf(data, {2, 3});
  null.data = nullptr;
  EXPECT_FALSE(program->run("", std::vector{null}));
}

TEST(Program, ChecksItsWeights) {
  ProgramSource missing = sourceOf(exampleFunction().function);
  auto program = Program::create(std::move(missing));
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::Corrupt);
  EXPECT_THAT(program.error().message, HasSubstr("no tensor `w`"));
  for (int wrong = 0; wrong < 3; ++wrong) {
    ProgramSource source = sourceOf(exampleFunction().function);
    source.findWeight = [wrong](std::string_view) -> std::optional<WeightView> {
      WeightView view{DType::Float32, {3, 1}, std::as_bytes(std::span(weight))};
      if (wrong == 0)
        view.dtype = DType::Int32;
      else if (wrong == 1)
        view.shape = {1, 3};
      else
        view.data = view.data.first(8);
      return view;
    };
    EXPECT_FALSE(Program::create(std::move(source)));
  }
}

TEST(Program, ManySizesInTurn) {
  auto program = make(withWeights(sourceOf(exampleFunction().function)));
  Floats data(300);
  for (int round = 0; round < 2; ++round)
    for (int64_t rows = 0; rows <= 100; ++rows)
      ASSERT_OK(program->run("", std::vector{viewOf(data, {rows, 3})}));
}

TEST(Program, ConcurrentCalls) {
  auto program = make(withWeights(sourceOf(exampleFunction().function)));
  setNumThreads(2);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 200; ++round) {
        int64_t rows = 1 + (round + t) % 40;
        Floats data(static_cast<size_t>(rows * 3), static_cast<float>(t));
        auto outputs = program->run("", std::vector{viewOf(data, {rows, 3})});
        if (!outputs) {
          ++wrong;
          continue;
        }
        Floats y = contentOf((*outputs)[0]);
        for (size_t i = 0; i < y.size(); ++i)
          wrong += y[i] != 2 * (static_cast<float>(t) + 2 * weight[i % 3]);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  setNumThreads(0);
  EXPECT_EQ(wrong, 0);
}

/// state = state + x, and the sum is an output, too.
ProgramSource accumulator(bool inPlace) {
  FunctionBuilder b;
  ValueId x = b.input("x", {3, 1});
  ValueId state = b.tensor({3, 1});
  ValueId sum = b.cluster(kAdd, {state, x}, b.tensor({3, 1}));
  if (inPlace)
    b.output("y", b.cluster(kTwice, {sum}, b.tensor({3, 1})));
  else
    b.output("y", sum);
  b.output("before", state);
  if (inPlace)
    b.function.outputs.pop_back();
  b.function.states.push_back({"total", state, sum, "w"});
  return withWeights(sourceOf(b.function));
}

TEST(Program, StatesSurviveCalls) {
  for (bool inPlace : {false, true}) {
    auto program = make(accumulator(inPlace));
    Floats one = {1, 2, 3};
    for (int call = 1; call <= 5; ++call) {
      auto outputs = program->run("", std::vector{viewOf(one, {3, 1})});
      ASSERT_OK(outputs);
      auto n = static_cast<float>(call);
      float factor = inPlace ? 2 : 1;
      EXPECT_EQ(contentOf((*outputs)[0]), (Floats{factor * (10 + n), factor * (20 + 2 * n), factor * (30 + 3 * n)}));
      if (!inPlace) {
        EXPECT_EQ(contentOf((*outputs)[1]), (Floats{10 + n - 1, 20 + 2 * (n - 1), 30 + 3 * (n - 1)}));
      }
    }
    EXPECT_EQ(program->states().names(), std::vector<std::string>{"total"});
    auto value = program->states().read("total");
    ASSERT_OK(value);
    EXPECT_EQ(contentOf(*value), (Floats{15, 30, 45}));
    ASSERT_TRUE(program->states().reset());
    EXPECT_EQ(contentOf(*program->states().read("total")), weight);
    Floats other = {7, 8, 9};
    ASSERT_OK(program->states().write("total", viewOf(other, {3, 1})));
    EXPECT_EQ(contentOf(*program->states().read("total")), other);
    EXPECT_FALSE(program->states().write("total", viewOf(other, {1, 3})));
    EXPECT_FALSE(program->states().read("totl"));
  }
}

TEST(Program, StatesAreUpdatedInPlaceBySlices) {
  FunctionBuilder b;
  ValueId x = b.input("x", {1, 1});
  ValueId at = b.scalar();
  b.function.inputs.push_back({"at", at, {}, ""});
  ValueId cache = b.tensor({3, 1});
  ValueId one = b.step("arith.constant", {}, b.scalar(), {{"value", int64_t(1)}});
  ValueId end = b.step("arith.addi", {at, one}, b.scalar());
  ValueId updated =
      b.step("insert_slice", {cache, x, at, end}, b.tensor({3, 1}),
             {{"axis", int64_t(0)}, {"bounds", Ints{kDynamicEntry, kDynamicEntry}}, {"step", int64_t(1)}});
  b.output("twice", b.cluster(kTwice, {updated}, b.tensor({3, 1})));
  b.function.states.push_back({"cache", cache, updated, "w"});
  auto program = make(withWeights(sourceOf(b.function)));
  for (int64_t position : {0, 2}) {
    Floats value = {static_cast<float>(position + 1)};
    TensorView where{&position, TensorDesc::contiguous(DType::Int64, {})};
    auto outputs = program->run("", std::vector{viewOf(value, {1, 1}), where});
    ASSERT_OK(outputs);
    EXPECT_EQ(contentOf((*outputs)[0])[static_cast<size_t>(position)], 2 * value[0]);
  }
  EXPECT_EQ(contentOf(*program->states().read("cache")), (Floats{1, 20, 3}));
}

TEST(Program, ScalarsInAndOut) {
  FunctionBuilder b;
  ValueId n = b.scalar();
  b.function.inputs.push_back({"n", n, {}, ""});
  ValueId one = b.step("arith.constant", {}, b.scalar(), {{"value", int64_t(1)}});
  ValueId next = b.step("arith.addi", {n, one}, b.scalar());
  b.output("next", next);
  b.output("range", b.step("iota", {one, one, next}, b.tensor({kDynamic}, DType::Float32)));
  b.output("tensor", b.step("from_scalar", {next}, b.tensor({}, DType::Int64)));
  b.function.outputs.push_back({"nothing", kNoValue, "null"});
  auto program = make(sourceOf(b.function));
  for (int64_t number : {0, 4}) {
    auto outputs = program->run("", std::vector{TensorView{&number, TensorDesc::contiguous(DType::Int64, {})}});
    ASSERT_OK(outputs);
    ASSERT_EQ(outputs->size(), 3u);
    EXPECT_EQ(contentOf<int64_t>((*outputs)[0])[0], number + 1);
    EXPECT_EQ(contentOf((*outputs)[1]), count<float>(number + 1, 1));
    EXPECT_EQ(contentOf<int64_t>((*outputs)[2])[0], number + 1);
  }
}

TEST(Program, Describes) {
  auto program = make(withWeights(sourceOf(exampleFunction().function)));
  EXPECT_THAT(program->description(), HasSubstr(R"("name":"forward")"));
  EXPECT_THAT(program->description(), HasSubstr(R"("shape":["rows",3])"));
  Floats data(6);
  auto use = program->memoryUse("", std::vector{viewOf(data, {2, 3})});
  ASSERT_OK(use);
  EXPECT_LE(use->arenaBytes, use->unsharedBytes);
}

TEST(Program, OutputsOutliveTheProgram) {
  auto program = make(withWeights(sourceOf(exampleFunction().function)));
  Floats data(6);
  auto outputs = program->run("", std::vector{viewOf(data, {2, 3})});
  ASSERT_OK(outputs);
  program.reset();
  EXPECT_EQ(contentOf((*outputs)[0])[0], 40);
}

} // namespace
} // namespace ingot::test
