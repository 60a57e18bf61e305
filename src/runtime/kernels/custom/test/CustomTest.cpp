// What the step of a user's kernel makes of its plan, right and wrong, around a function that stands for compiled code.
#include "runtime/Kernel.h"
#include "runtime/kernels/custom/KernelAbi.h"

#include <cstring>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>

namespace ingot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kDynamicEntry = std::numeric_limits<int64_t>::min();

/// y = x * by, for x as it lies; refuses negative factors.
extern "C" int32_t scaleFunction(const ingot_kernel_argument *inputs, const ingot_kernel_argument *results,
                                 char *message, size_t capacity) {
  double by = *static_cast<const double *>(inputs[1].data);
  if (by < 0) {
    std::strncpy(message, "negative", capacity - 1);
    return 1;
  }
  const auto &x = inputs[0];
  for (int64_t i = 0; i < x.sizes[0]; ++i)
    for (int64_t j = 0; j < x.sizes[1]; ++j)
      static_cast<float *>(results[0].data)[i * results[0].strides[0] + j] =
          static_cast<float>(static_cast<const float *>(x.data)[i * x.strides[0] + j * x.strides[1]] * by);
  return 0;
}

struct CustomRun {
  Attributes attributes = {{"kernel", std::string("scale")},
                           {"symbol", std::string("scale")},
                           {"inputs", int64_t(2)},
                           {"sizes", std::vector<int64_t>{kDynamicEntry, 2}},
                           {"strided", false}};
  TensorDesc x = TensorDesc::contiguous(DType::Float32, {3, 2});
  double by = 2;
  int64_t rows = 3;
  size_t scratch = 0;
  std::vector<float> elements;

  Status run() {
    Step step{"custom", {}, {}, attributes, "", ""};
    std::vector<Value> types = {{ValueKind::Tensor, DType::Float32, {kDynamic, 2}}};
    std::vector<BoundOperand> operands = {
        {true, x, nullptr, {}}, {true, {}, nullptr, ScalarValue(by)}, {true, {}, nullptr, ScalarValue(rows)}};
    auto find = [](const std::string &name) {
      return name == "scale" ? reinterpret_cast<void *>(scaleFunction) : nullptr;
    };
    StepContext context{step, types, operands, find};
    const KernelDef *def = findKernel("custom");
    INGOT_TRY(std::vector<ResultDesc> results, def->infer(context));
    std::vector<TensorDesc> descs = {results[0].desc};
    INGOT_TRY(auto kernel, def->bind(context, descs));
    std::vector<float> memory(6);
    std::iota(memory.begin(), memory.end(), 0.0F);
    elements.assign(static_cast<size_t>(descs[0].numel()), -1);
    scratch = kernel->scratchBytes();
    std::vector<std::byte> space(scratch);
    void *in[] = {memory.data(), nullptr, nullptr};
    void *out[] = {elements.data()};
    return kernel->run({in, out, space.data()});
  }
};

std::string problem(CustomRun run) {
  Status status = run.run();
  return status ? "" : status.error().str();
}

TEST(Custom, PassesTensorsNumbersAndSizes) {
  CustomRun run;
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.elements, ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_EQ(run.scratch, 0u);
}

TEST(Custom, InputsAreMadeRowMajorUnlessStrided) {
  CustomRun run;
  run.x.strides = {1, 3};
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.elements, ElementsAre(0, 6, 2, 8, 4, 10));
  EXPECT_GT(run.scratch, 0u);
  run.attributes["strided"] = true;
  ASSERT_TRUE(run.run());
  EXPECT_THAT(run.elements, ElementsAre(0, 6, 2, 8, 4, 10));
  EXPECT_EQ(run.scratch, 0u);
}

TEST(Custom, AFailureHasTheKernelsMessage) {
  CustomRun run;
  run.by = -1;
  EXPECT_EQ(problem(run), "the kernel 'scale' failed: negative");
}

TEST(Custom, WrongPlansAreRefused) {
  CustomRun run;
  run.attributes["symbol"] = std::string("gone");
  EXPECT_THAT(problem(run), HasSubstr("no function `gone`"));
  run = {};
  run.attributes["inputs"] = int64_t(4);
  EXPECT_THAT(problem(run), HasSubstr("'inputs' is out of range"));
  run = {};
  run.attributes["sizes"] = std::vector<int64_t>{kDynamicEntry};
  EXPECT_THAT(problem(run), HasSubstr("'sizes' does not fit"));
  run = {};
  run.attributes["sizes"] = std::vector<int64_t>{kDynamicEntry, 2, 2};
  EXPECT_THAT(problem(run), HasSubstr("'sizes' does not fit"));
  run = {};
  run.attributes["sizes"] = std::vector<int64_t>{3, 2};
  EXPECT_NE(problem(run), ""); // a number too many
  run = {};
  run.rows = -1;
  EXPECT_THAT(problem(run), HasSubstr("negative size"));
  run = {};
  run.rows = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_NE(problem(run), "");
}

} // namespace
} // namespace ingot
