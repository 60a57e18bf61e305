#include "runtime/TensorDesc.h"
#include "runtime/test/TestPlan.h"
#include "runtime/threads/Pool.h"

#include <atomic>
#include <gmock/gmock.h>
#include <random>

namespace ingot::test {
namespace {

std::atomic<int> calls;

void countingAdd(void *const *p, int64_t n0, int64_t n1, const int64_t *s0, const int64_t *s1) {
  ++calls;
  addFunction(p, n0, n1, s0, s1);
}

void *findCounting(const std::string &) { return reinterpret_cast<void *>(countingAdd); }

struct Operand {
  TensorDesc desc;
  std::vector<float> memory;

  explicit Operand(TensorDesc d) : desc(std::move(d)), memory(count<float>(checkedExtent(desc)->end)) {}

  float at(const std::vector<int64_t> &index) const {
    int64_t offset = 0;
    size_t added = index.size() - desc.sizes.size();
    for (size_t i = 0; i < desc.sizes.size(); ++i)
      offset += desc.sizes[i] == 1 ? 0 : index[i + added] * desc.strides[i];
    return memory[static_cast<size_t>(offset)];
  }
};

/// Binds and runs the kernel itself on two operands; returns the result in row-major order.
struct ClusterRun {
  std::vector<ResultDesc> results;
  std::vector<float> elements;

  Status run(const Operand &a, const Operand &b, std::vector<int64_t> shape) {
    Step step{"cluster", {}, {}, {{"symbol", kAdd}}, "", ""};
    std::vector<Value> types = {{ValueKind::Tensor, DType::Float32, std::move(shape)}};
    std::vector<BoundOperand> operands = {{true, a.desc, nullptr, {}}, {true, b.desc, nullptr, {}}};
    StepContext context{step, types, operands, findCounting};
    const KernelDef *def = findKernel("cluster");
    INGOT_TRY(results, def->infer(context));
    std::vector<TensorDesc> descs = {results[0].desc};
    INGOT_TRY(auto kernel, def->bind(context, descs));
    std::vector<float> memory(static_cast<size_t>(descs[0].numel()), -1);
    void *in[] = {const_cast<float *>(a.memory.data()), const_cast<float *>(b.memory.data())};
    void *out[] = {memory.data()};
    INGOT_CHECK(kernel->run({in, out, nullptr}));
    Operand result(descs[0]);
    result.memory = memory;
    collect(result, {}, elements);
    return {};
  }

  static void collect(const Operand &tensor, std::vector<int64_t> index, std::vector<float> &out) {
    if (index.size() == tensor.desc.sizes.size()) {
      out.push_back(tensor.at(index));
      return;
    }
    int64_t size = tensor.desc.sizes[index.size()];
    for (int64_t i = 0; i < size; ++i) {
      index.push_back(i);
      collect(tensor, index, out);
      index.pop_back();
    }
  }
};

void expectedSum(const Operand &a, const Operand &b, const std::vector<int64_t> &sizes, std::vector<int64_t> index,
                 std::vector<float> &out) {
  if (index.size() == sizes.size()) {
    out.push_back(a.at(index) + b.at(index));
    return;
  }
  for (int64_t i = 0; i < sizes[index.size()]; ++i) {
    index.push_back(i);
    expectedSum(a, b, sizes, index, out);
    index.pop_back();
  }
}

TEST(Cluster, RandomBroadcastsMatchNaiveLoops) {
  std::mt19937 random(3);
  for (int threads : {1, 3}) {
    setNumThreads(threads);
    for (int round = 0; round < 300; ++round) {
      size_t rank = random() % 5;
      std::vector<int64_t> sizes;
      for (size_t i = 0; i < rank; ++i)
        sizes.push_back(static_cast<int64_t>(1 + random() % (round % 20 == 0 && i < 3 ? 60 : 6)));
      auto operand = [&](bool isFull) {
        std::vector<int64_t> own = sizes, order;
        for (size_t i = 0; i < rank; ++i) {
          order.push_back(static_cast<int64_t>(i));
          if (!isFull && random() % 2)
            own[i] = 1;
        }
        std::shuffle(order.begin(), order.end(), random);
        TensorDesc desc = TensorDesc::dense(DType::Float32, own, order);
        if (random() % 3 == 0)
          for (int64_t &stride : desc.strides)
            stride *= 3;
        return Operand(desc);
      };
      Operand a = operand(true);
      Operand b = operand(false);
      ClusterRun run;
      ASSERT_OK(run.run(a, b, std::vector<int64_t>(rank, kDynamic)));
      std::vector<float> expected;
      expectedSum(a, b, sizes, {}, expected);
      ASSERT_EQ(run.elements, expected) << shapeText(sizes);
    }
  }
  setNumThreads(0);
}

TEST(Cluster, ChannelsLastStaysChannelsLast) {
  std::vector<int64_t> nhwc = {0, 2, 3, 1};
  Operand x(TensorDesc::dense(DType::Float32, {2, 3, 4, 5}, nhwc));
  Operand bias(TensorDesc::contiguous(DType::Float32, {3, 1, 1}));
  ClusterRun run;
  ASSERT_OK(run.run(bias, x, {2, 3, kDynamic, 5}));
  EXPECT_EQ(run.results[0].desc.strides, x.desc.strides);
  std::vector<float> expected;
  expectedSum(bias, x, {2, 3, 4, 5}, {}, expected);
  EXPECT_EQ(run.elements, expected);
}

TEST(Cluster, MergesDimensionsAndSplitsWork) {
  setNumThreads(1);
  Operand a(TensorDesc::contiguous(DType::Float32, {8, 4, 16}));
  Operand b(TensorDesc::contiguous(DType::Float32, {8, 4, 16}));
  ClusterRun run;
  calls = 0;
  ASSERT_OK(run.run(a, b, {8, 4, 16}));
  EXPECT_EQ(calls, 1);
  Operand row(TensorDesc::contiguous(DType::Float32, {4, 1}));
  calls = 0;
  ClusterRun broadcast;
  ASSERT_OK(broadcast.run(a, row, {8, 4, 16}));
  EXPECT_EQ(calls, 8); // the outermost dimension cannot be part of a two-dimensional loop
  setNumThreads(2);
  Operand longRow(TensorDesc::contiguous(DType::Float32, {200001}));
  calls = 0;
  ClusterRun split;
  ASSERT_OK(split.run(longRow, longRow, {200001}));
  EXPECT_GT(calls, 1);
  EXPECT_EQ(split.elements.back(), 400000);
  setNumThreads(0);
}

/// x - mean(x) over the last `rank` dimensions of a permuted input.
void expectCentered(std::vector<int64_t> sizes, std::vector<int64_t> dims, size_t rank, int threads) {
  setNumThreads(threads);
  FunctionBuilder b;
  ValueId x = b.input("x", sizes);
  std::vector<int64_t> seen;
  for (int64_t dim : dims)
    seen.push_back(sizes[static_cast<size_t>(dim)]);
  ValueId p = b.step("permute", {x}, b.tensor(seen), {{"dims", dims}});
  std::vector<int64_t> reduced = seen;
  std::fill(reduced.end() - static_cast<ptrdiff_t>(rank), reduced.end(), 1);
  ValueId centered = b.tensor(seen);
  ValueId mean = b.tensor(reduced);
  Attributes attributes = {{"symbol", kCenter}, {"reduce", true}, {"reduce_rank", int64_t(rank)}};
  b.function.steps.push_back({"cluster", {p}, {centered, mean}, attributes, "", ""});
  b.output("centered", centered);
  b.output("mean", mean);
  b.output("seen", p);
  auto program = Program::create(sourceOf(b.function));
  ASSERT_OK(program);
  std::vector<float> data = count<float>(TensorDesc::contiguous(DType::Float32, sizes).numel());
  std::vector<TensorView> inputs = {viewOf(data, sizes)};
  auto outputs = (*program)->run("", inputs);
  ASSERT_OK(outputs);
  std::vector<float> y = contentOf((*outputs)[0]), m = contentOf((*outputs)[1]), v = contentOf((*outputs)[2]);
  size_t row = y.size() / m.size();
  for (size_t i = 0; i < m.size(); ++i) {
    float sum = 0;
    for (size_t j = 0; j < row; ++j)
      sum += v[i * row + j];
    ASSERT_FLOAT_EQ(m[i], sum / static_cast<float>(row));
    for (size_t j = 0; j < row; ++j)
      ASSERT_FLOAT_EQ(y[i * row + j], v[i * row + j] - m[i]);
  }
  setNumThreads(0);
}

TEST(Cluster, ReducesRows) {
  for (int threads : {1, 3}) {
    expectCentered({4, 6}, {0, 1}, 1, threads);
    expectCentered({4, 6}, {1, 0}, 1, threads);
    expectCentered({2, 3, 4, 5}, {0, 2, 1, 3}, 1, threads);
    expectCentered({2, 3, 4, 5}, {0, 2, 3, 1}, 2, threads); // rows need a copy
    expectCentered({2, 3, 4, 5}, {3, 2, 1, 0}, 3, threads);
    expectCentered({30, 3, 40}, {2, 1, 0}, 3, threads);
    expectCentered({300, 100}, {0, 1}, 1, threads);
  }
}

TEST(Cluster, RefusesBadPlans) {
  Operand a(TensorDesc::contiguous(DType::Float32, {2, 3}));
  Operand b(TensorDesc::contiguous(DType::Float32, {4}));
  ClusterRun run;
  EXPECT_FALSE(run.run(a, b, {2, 3}));
  EXPECT_FALSE(run.run(a, a, {1, 2, 3, 5}));
}

TEST(Cluster, FunctionsAreCalledWithTheirOwnTypes) {
  auto refuses = [](DType dtype, size_t operands) {
    FunctionBuilder b;
    std::vector<ValueId> values(operands, b.input("x", {2}, {}, dtype));
    b.output("y", b.cluster(kAdd, values, b.tensor({2}, dtype)));
    auto program = Program::create(sourceOf(b.function));
    std::vector<double> data(2);
    std::vector<TensorView> inputs = {{data.data(), TensorDesc::contiguous(dtype, {2})}};
    return !(*program)->run("", inputs);
  };
  EXPECT_FALSE(refuses(DType::Float32, 2));
  EXPECT_TRUE(refuses(DType::Float32, 1));
  EXPECT_TRUE(refuses(DType::Float32, 3));
  EXPECT_TRUE(refuses(DType::Float64, 2));
  EXPECT_TRUE(refuses(DType::Int32, 2));
}

TEST(Cluster, MissingSymbol) {
  FunctionBuilder b;
  b.output("y", b.cluster("nowhere", {b.input("x", {2})}, b.tensor({2})));
  auto program = Program::create(sourceOf(b.function));
  ASSERT_OK(program);
  std::vector<float> data(2);
  std::vector<TensorView> inputs = {viewOf(data, {2})};
  auto outputs = (*program)->run("", inputs);
  ASSERT_FALSE(outputs);
  EXPECT_THAT(outputs.error().str(), testing::HasSubstr("`nowhere`"));
  EXPECT_THAT(outputs.error().str(), testing::HasSubstr("model.py:7"));
}

} // namespace
} // namespace ingot::test
