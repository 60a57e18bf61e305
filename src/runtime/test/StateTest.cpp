#include "ingot/ingot.h"
#include "runtime/Program.h"
#include "runtime/States.h"
#include "runtime/test/TestPlan.h"

#include <future>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

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

Floats initial = {10, 20, 30};

ProgramSource withInitial(ProgramSource source) {
  source.findWeight = [](std::string_view) -> std::optional<WeightView> {
    return WeightView{DType::Float32, {3, 1}, std::as_bytes(std::span(initial))};
  };
  return source;
}

Attributes sliceOf(int64_t axis, int64_t begin, int64_t end) {
  return {{"axis", axis}, {"bounds", Ints{begin, end}}, {"step", int64_t(1)}};
}

/// state `total` += x, and twice the sum.
Function accumulate(std::string name) {
  FunctionBuilder b(std::move(name));
  ValueId x = b.input("x", {3, 1});
  ValueId total = b.tensor({3, 1});
  ValueId sum = b.cluster(kAdd, {total, x}, b.tensor({3, 1}));
  b.output("y", b.cluster(kTwice, {sum}, b.tensor({3, 1})));
  b.function.states.push_back({"total", total, sum, "w"});
  return b.function;
}

/// The argument `cache` gets x at row 1 of its only matrix; the result is the whole, doubled.
Function writeRow(int64_t rows, int64_t width) {
  FunctionBuilder b;
  ValueId x = b.input("x", {1, width});
  ValueId cache = b.input("cache", {rows, width});
  ValueId updated = b.step("insert_slice", {cache, x}, b.tensor({rows, width}), sliceOf(0, 1, 2));
  ValueId head = b.step("slice", {updated}, b.tensor({2, width}), sliceOf(0, 0, 2));
  b.output("y", b.cluster(kTwice, {head}, b.tensor({2, width})));
  b.function.states.push_back({"cache", cache, updated, ""});
  return b.function;
}

NamedTensor named(std::string_view name, Floats &data, Ints sizes) { return {name, viewOf(data, std::move(sizes))}; }

uint64_t copiedBy(Program &program, std::span<const TensorView> inputs, std::span<const NamedTensor> states) {
  const uint64_t before = ingot_copied_bytes();
  EXPECT_TRUE(program.run("", inputs, states));
  return ingot_copied_bytes() - before;
}

TEST(State, CallersMemoryIsChangedInPlace) {
  auto program = make(withInitial(sourceOf(accumulate("forward"))));
  Floats one = {1, 2, 3}, mine = {100, 200, 300};
  std::vector inputs{viewOf(one, {3, 1})};
  std::vector states{named("total", mine, {3, 1})};
  for (int call = 1; call <= 3; ++call) {
    auto outputs = program->run("", inputs, states);
    ASSERT_OK(outputs);
    auto n = static_cast<float>(call);
    EXPECT_EQ(mine, (Floats{100 + n, 200 + 2 * n, 300 + 3 * n}));
    EXPECT_EQ(contentOf((*outputs)[0])[0], 2 * mine[0]);
  }
  EXPECT_EQ(copiedBy(*program, inputs, states), 0u);
  EXPECT_EQ(contentOf(*program->states().read("total")), initial);
}

/// Memory of which only some pages can be written: whoever writes elsewhere ends the test.
class Guarded {
public:
  Guarded(size_t pages, size_t writable) : bytes(pages * page()) {
    data = static_cast<std::byte *>(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(data + writable * page(), page(), PROT_READ | PROT_WRITE), 0);
  }
  ~Guarded() { munmap(data, bytes); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;

  static size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

  std::byte *data = nullptr;
  size_t bytes;
};

TEST(State, OnlyTheNewRowIsWritten) {
  constexpr int64_t rows = 64;
  const auto width = static_cast<int64_t>(Guarded::page() / sizeof(float));
  auto program = make(sourceOf(writeRow(rows, width)));
  Guarded cache(rows, 1);
  Floats row = count<float>(width, 1);
  NamedTensor state{"cache", {cache.data, TensorDesc::contiguous(DType::Float32, {rows, width})}};
  EXPECT_EQ(copiedBy(*program, std::vector{viewOf(row, {1, width})}, std::vector{state}), Guarded::page());
  EXPECT_EQ(std::memcmp(cache.data + Guarded::page(), row.data(), Guarded::page()), 0);
}

TEST(State, WritesThroughNestedSlices) {
  // stack[1][0, row 1] = x, as it comes from exported programs: slices out, changed, and put back.
  constexpr int64_t rows = 4;
  const auto width = static_cast<int64_t>(Guarded::page() / sizeof(float));
  FunctionBuilder b;
  ValueId x = b.input("x", {1, width});
  ValueId stack = b.input("stack", {3, 2, rows, width});
  ValueId layer = b.step("slice", {stack}, b.tensor({1, 2, rows, width}), sliceOf(0, 1, 2));
  ValueId flat = b.step("reshape", {layer}, b.tensor({2, rows, width}), {{"sizes", Ints{2, rows, width}}});
  ValueId part = b.step("slice", {flat}, b.tensor({1, rows, width}), sliceOf(0, 0, 1));
  ValueId matrix = b.step("reshape", {part}, b.tensor({rows, width}), {{"sizes", Ints{rows, width}}});
  ValueId put = b.step("insert_slice", {matrix, x}, b.tensor({rows, width}), sliceOf(0, 1, 2));
  ValueId partAgain = b.step("reshape", {put}, b.tensor({1, rows, width}), {{"sizes", Ints{1, rows, width}}});
  ValueId flatAgain = b.step("insert_slice", {flat, partAgain}, b.tensor({2, rows, width}), sliceOf(0, 0, 1));
  ValueId layerAgain =
      b.step("reshape", {flatAgain}, b.tensor({1, 2, rows, width}), {{"sizes", Ints{1, 2, rows, width}}});
  ValueId next = b.step("insert_slice", {stack, layerAgain}, b.tensor({3, 2, rows, width}), sliceOf(0, 1, 2));
  b.function.states.push_back({"stack", stack, next, ""});
  auto program = make(sourceOf(b.function));
  const size_t target = 1 * 2 * rows + 1;
  Guarded memory(3 * 2 * rows, target);
  Floats row = count<float>(width, 1);
  NamedTensor state{"stack", {memory.data, TensorDesc::contiguous(DType::Float32, {3, 2, rows, width})}};
  EXPECT_EQ(copiedBy(*program, std::vector{viewOf(row, {1, width})}, std::vector{state}), Guarded::page());
  EXPECT_EQ(std::memcmp(memory.data + target * Guarded::page(), row.data(), Guarded::page()), 0);
}

/// The old row 1 is read by a step that comes after the change: one that needs nothing of the new value, or one that does.
Function readOld(bool needsNew, int64_t rows) {
  FunctionBuilder b;
  ValueId x = b.input("x", {1, 3});
  ValueId cache = b.input("cache", {rows, 3});
  ValueId old = b.step("slice", {cache}, b.tensor({1, 3}), sliceOf(0, 1, 2));
  ValueId updated = b.step("insert_slice", {cache, x}, b.tensor({rows, 3}), sliceOf(0, 1, 2));
  ValueId fresh = b.step("slice", {updated}, b.tensor({1, 3}), sliceOf(0, 1, 2));
  b.output("y", b.cluster(kAdd, {needsNew ? fresh : x, old}, b.tensor({1, 3})));
  b.function.states.push_back({"cache", cache, updated, ""});
  return b.function;
}

TEST(State, OldContentIsReadBeforeItChanges) {
  for (bool needsNew : {false, true}) {
    for (int64_t rows : {8, 400}) {
      auto program = make(sourceOf(readOld(needsNew, rows)));
      Floats x = {1, 2, 3}, cache = count<float>(rows * 3);
      std::vector inputs{viewOf(x, {1, 3})};
      std::vector states{named("cache", cache, {rows, 3})};
      auto outputs = program->run("", inputs, states);
      ASSERT_OK(outputs);
      EXPECT_EQ(contentOf((*outputs)[0]), (Floats{4, 6, 8}));
      EXPECT_EQ(Floats(cache.begin() + 2, cache.begin() + 7), (Floats{2, 1, 2, 3, 6}));
      // The row that is written and, where it has to be kept, the old one.
      EXPECT_EQ(copiedBy(*program, inputs, states), (needsNew ? 2u : 1u) * 3 * sizeof(float));
    }
  }
}

TEST(State, OverlappingSourcesAreReadFirst) {
  // line[:-1] = line[1:]
  FunctionBuilder b;
  ValueId line = b.input("line", {6});
  ValueId tail = b.step("slice", {line}, b.tensor({5}), sliceOf(0, 1, 6));
  ValueId moved = b.step("insert_slice", {line, tail}, b.tensor({6}), sliceOf(0, 0, 5));
  b.function.states.push_back({"line", line, moved, ""});
  b.output("before", b.step("slice", {line}, b.tensor({1}), sliceOf(0, 0, 1)));
  auto program = make(sourceOf(b.function));
  Floats data = count<float>(6);
  std::vector states{named("line", data, {6})};
  for (int call = 0; call < 2; ++call) {
    auto outputs = program->run("", {}, states);
    ASSERT_OK(outputs);
    EXPECT_EQ(contentOf((*outputs)[0])[0], static_cast<float>(call));
  }
  EXPECT_EQ(data, (Floats{2, 3, 4, 5, 5, 5}));
}

TEST(State, InputsThatShareMemoryKeepTheirValue) {
  auto program = make(sourceOf(writeRow(3, 2)));
  Floats cache = count<float>(6);
  TensorView lastRow{cache.data() + 4, TensorDesc::contiguous(DType::Float32, {1, 2})};
  ASSERT_OK(program->run("", std::vector{lastRow}, std::vector{named("cache", cache, {3, 2})}));
  EXPECT_EQ(cache, (Floats{0, 1, 4, 5, 4, 5}));
  TensorView ownRow{cache.data() + 1, TensorDesc::contiguous(DType::Float32, {1, 2})};
  ASSERT_OK(program->run("", std::vector{ownRow}, std::vector{named("cache", cache, {3, 2})}));
  EXPECT_EQ(cache, (Floats{0, 1, 1, 4, 4, 5}));
}

TEST(State, ArgumentsOfAnySize) {
  FunctionBuilder b;
  ValueId x = b.input("x", {kDynamic}, {"n"});
  ValueId sum = b.input("sum", {kDynamic}, {"n"});
  ValueId next = b.cluster(kAdd, {sum, x}, b.tensor({kDynamic}));
  b.function.states.push_back({"sum", sum, next, ""});
  b.function.symbols = {{"n", 1, 8}};
  auto program = make(sourceOf(b.function));
  for (int64_t n : {2, 5, 2}) {
    Floats one(static_cast<size_t>(n), 1), mine = count<float>(n);
    ASSERT_OK(program->run("", std::vector{viewOf(one, {n})}, std::vector{named("sum", mine, {n})}));
    EXPECT_EQ(mine, count<float>(n, 1));
  }
  Floats two(2), three(3);
  auto result = program->run("", std::vector{viewOf(two, {2})}, std::vector{named("sum", three, {3})});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("input `sum` is 3"));
}

TEST(State, ChecksWhatIsGiven) {
  auto program = make(withInitial(sourceOf(accumulate("forward"))));
  Floats one = {1, 2, 3}, mine(8);
  std::vector inputs{viewOf(one, {3, 1})};
  auto fails = [&](std::vector<NamedTensor> states, const char *message) {
    auto result = program->run("", inputs, states);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Usage);
    EXPECT_THAT(result.error().message, HasSubstr(message));
  };
  NamedTensor good = named("total", mine, {3, 1});
  fails({named("totl", mine, {3, 1})}, "no state `totl`; did you mean `total`?");
  fails({named("total", mine, {1, 3})}, "state `total`: expected float32[3, 1], got float32[1, 3]");
  fails({good, good}, "state `total` is given twice");
  NamedTensor other = good;
  other.tensor.desc.dtype = DType::Int32;
  fails({other}, "state `total`: expected float32[3, 1], got int32[3, 1]");
  other = good;
  other.tensor.desc.strides = {2, 1};
  fails({other}, "state `total`: the array is not contiguous");
  other = good;
  other.tensor.data = nullptr;
  fails({other}, "state `total`: the data pointer is null");
  program = make(sourceOf(writeRow(3, 1)));
  inputs = {viewOf(one, {1, 1})};
  fails({}, "changes its argument `cache`");
  inputs.push_back(inputs.front());
  fails({named("cache", mine, {3, 1})}, "takes 1 inputs (`x`), got 2");
}

TEST(State, FunctionsShareStatesByName) {
  ProgramSource source = withInitial(sourceOf(accumulate("prefill")));
  source.plan.functions.push_back(accumulate("decode"));
  auto program = make(std::move(source));
  Floats one = {1, 1, 1};
  ASSERT_OK(program->run("prefill", std::vector{viewOf(one, {3, 1})}));
  auto outputs = program->run("decode", std::vector{viewOf(one, {3, 1})});
  ASSERT_OK(outputs);
  EXPECT_EQ(contentOf((*outputs)[0]), (Floats{24, 44, 64}));
  EXPECT_EQ(program->states().names(), std::vector<std::string>{"total"});

  ProgramSource different = withInitial(sourceOf(accumulate("prefill")));
  FunctionBuilder b("decode");
  ValueId total = b.tensor({3, 2});
  b.function.states.push_back({"total", total, total, "w"});
  different.plan.functions.push_back(b.function);
  EXPECT_FALSE(Program::create(std::move(different)));
}

TEST(State, CallersStatesNeedNoLock) {
  auto program = make(withInitial(sourceOf(accumulate("forward"))));
  auto held = program->states().lock();
  auto call = std::async(std::launch::async, [&] {
    Floats one = {1, 2, 3}, mine(3);
    auto result = program->run("", std::vector{viewOf(one, {3, 1})}, std::vector{named("total", mine, {3, 1})});
    return static_cast<bool>(result);
  });
  ASSERT_EQ(call.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_TRUE(call.get());
}

TEST(State, SetsAreIndependent) {
  auto program = make(withInitial(sourceOf(accumulate("forward"))));
  auto first = program->newStates(), second = program->newStates();
  ASSERT_OK(first);
  ASSERT_OK(second);
  Floats one = {1, 1, 1};
  std::vector inputs{viewOf(one, {3, 1})};
  for (int call = 0; call < 3; ++call)
    ASSERT_OK(program->run("", inputs, {}, first->get()));
  ASSERT_OK(program->run("", inputs, {}, second->get()));
  EXPECT_EQ(contentOf(*(*first)->read("total")), (Floats{13, 23, 33}));
  EXPECT_EQ(contentOf(*(*second)->read("total")), (Floats{11, 21, 31}));
  EXPECT_EQ(contentOf(*program->states().read("total")), initial);
}

/// `main` hands its argument to an internal function that changes a row, and on to one that hands it back.
ProgramSource callingProgram(bool readsOldLater) {
  FunctionBuilder inner("main.0");
  inner.function.isInternal = true;
  ValueId innerCache = inner.input("in0", {4, 3}), innerRow = inner.input("in1", {1, 3});
  inner.output("out0", inner.step("insert_slice", {innerCache, innerRow}, inner.tensor({4, 3}), sliceOf(0, 1, 2)));
  FunctionBuilder same("main.1");
  same.function.isInternal = true;
  same.output("out0", same.input("in0", {4, 3}));

  FunctionBuilder b("main");
  ValueId x = b.input("x", {1, 3}), cache = b.input("cache", {4, 3});
  auto invoke = [&](const char *function, std::vector<ValueId> operands) {
    return b.step("invoke", std::move(operands), b.tensor({4, 3}),
                  {{"kind", std::string("call")}, {"functions", std::vector<std::string>{function}}});
  };
  ValueId written = invoke("main.0", {cache, x});
  ValueId next = invoke("main.1", {written});
  if (readsOldLater)
    b.output("before", invoke("main.1", {cache}));
  b.output("after", next);
  b.function.states.push_back({"cache", cache, next, ""});
  ProgramSource source = sourceOf(inner.function);
  source.plan.functions.push_back(same.function);
  source.plan.functions.push_back(b.function);
  return source;
}

TEST(State, CalledFunctionsChangeStatesInPlace) {
  for (bool readsOldLater : {false, true}) {
    auto program = make(callingProgram(readsOldLater));
    Floats x = {7, 8, 9}, cache = count<float>(12);
    std::vector inputs{viewOf(x, {1, 3})};
    std::vector states{named("cache", cache, {4, 3})};
    auto outputs = program->run("main", inputs, states);
    ASSERT_OK(outputs);
    EXPECT_EQ(cache, (Floats{0, 1, 2, 7, 8, 9, 6, 7, 8, 9, 10, 11}));
    EXPECT_EQ(contentOf(outputs->back()), cache);
    EXPECT_NE(reinterpret_cast<const float *>(outputs->back().data.get()), cache.data());
    if (readsOldLater) {
      EXPECT_EQ(contentOf(outputs->front()), count<float>(12));
    } else {
      // The row, and the output that is the state.
      const uint64_t before = ingot_copied_bytes();
      ASSERT_OK(program->run("main", inputs, states));
      EXPECT_EQ(ingot_copied_bytes() - before, (3 + 12) * sizeof(float));
    }
  }
}

} // namespace
} // namespace ingot::test
