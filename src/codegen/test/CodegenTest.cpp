#include "codegen/test/KernelFixture.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>

#include <gmock/gmock.h>

namespace ingot::codegen {
namespace {

std::vector<float> randomFloats(size_t count, float low = -3, float high = 3) {
  std::mt19937 engine(42);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(engine);
  return values;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }

const std::string kUnaryGelu = clusterText({"tensor<?xf32>"}, R"(
    %0 = ingot.gelu %a : (tensor<?xf32>) -> tensor<?xf32>
    ingot.yield %0 : tensor<?xf32>)",
                                           {"tensor<?xf32>"});

TEST(Codegen, GeluAtAllLengthsAndStrides) {
  Kernels kernels(kUnaryGelu);
  std::vector<float> x = randomFloats(1000);
  for (int64_t length : {0, 1, 7, 16, 100, 333})
    for (int64_t inner : {1, 3}) {
      std::vector<float> y(1000, -7);
      call(kernels.function(), 1, length, {{x.data(), 0, inner}, {y.data(), 0, inner}});
      for (int64_t i = 0; i < 1000; ++i)
        if (i % inner == 0 && i / inner < length)
          EXPECT_NEAR(y[i], gelu(x[i]), 1e-6) << i;
        else
          EXPECT_EQ(y[i], -7) << i;
    }
}

TEST(Codegen, NanAndInfinity) {
  Kernels kernels(kUnaryGelu);
  std::vector<float> x(64, std::numeric_limits<float>::quiet_NaN()), y(64);
  x[1] = std::numeric_limits<float>::infinity();
  call(kernels.function(), 1, 64, {{x.data(), 0, 1}, {y.data(), 0, 1}});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1])); // as in eager
  EXPECT_TRUE(std::isnan(y[63]));
}

const std::string kAddRelu = clusterText({"tensor<8x40x3x5xf32>", "tensor<40x1x1xf32>"}, R"(
    %0 = ingot.add %a, %b : (tensor<8x40x3x5xf32>, tensor<40x1x1xf32>) -> tensor<8x40x3x5xf32>
    %1 = ingot.relu %0 : (tensor<8x40x3x5xf32>) -> tensor<8x40x3x5xf32>
    ingot.yield %1 : tensor<8x40x3x5xf32>)",
                                         {"tensor<8x40x3x5xf32>"});

TEST(Codegen, AddReluWithEveryBroadcast) {
  Kernels kernels(kAddRelu);
  std::vector<float> x = randomFloats(4000), bias = randomFloats(4000, -1, 1), y(4000);
  for (auto [outer, inner] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 0}, {0, 1}, {50, 1}, {1, 17}, {0, 2}}) {
    call(kernels.function(), 17, 50, {{x.data(), 50, 1}, {bias.data(), outer, inner}, {y.data(), 50, 1}});
    for (int64_t i = 0; i < 17; ++i)
      for (int64_t j = 0; j < 50; ++j)
        ASSERT_EQ(y[i * 50 + j], std::max(0.0f, x[i * 50 + j] + bias[i * outer + j * inner]));
  }
}

TEST(Codegen, ResultInTheOperandsMemory) {
  Kernels kernels(kAddRelu);
  std::vector<float> x = randomFloats(850), before = x, bias = randomFloats(17, -1, 1);
  call(kernels.function(), 17, 50, {{x.data(), 50, 1}, {bias.data(), 1, 0}, {x.data(), 50, 1}});
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(x[i], std::max(0.0f, before[i] + bias[i / 50]));
}

TEST(Codegen, IntegersWrapAndDivideDown) {
  Kernels kernels(clusterText({"tensor<?xi64>", "tensor<?xi64>"}, R"(
    %0 = ingot.div_floor %a, %b : (tensor<?xi64>, tensor<?xi64>) -> tensor<?xi64>
    %1 = ingot.mul %a, %b : (tensor<?xi64>, tensor<?xi64>) -> tensor<?xi64>
    ingot.yield %0, %1 : tensor<?xi64>, tensor<?xi64>)",
                              {"tensor<?xi64>", "tensor<?xi64>"}));
  std::vector<int64_t> a = {7, -7, 7, -7, INT64_MAX, 0}, b = {2, 2, -2, -2, 2, 5}, q(6), p(6);
  call(kernels.function(), 1, 6, {{a.data(), 0, 1}, {b.data(), 0, 1}, {q.data(), 0, 1}, {p.data(), 0, 1}});
  EXPECT_THAT(q, testing::ElementsAre(3, -4, -4, 3, INT64_MAX / 2, 0));
  EXPECT_THAT(p, testing::ElementsAre(14, -14, -14, 14, -2, 0));
}

TEST(Codegen, BoolSelect) {
  Kernels kernels(clusterText({"tensor<?xf32>", "tensor<?xi1>", "tensor<f32>"}, R"(
    %zero = ingot.constant dense<0.0> : tensor<f32>
    %0 = ingot.lt %a, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
    %1 = ingot.bitwise_or %0, %b : (tensor<?xi1>, tensor<?xi1>) -> tensor<?xi1>
    %2 = ingot.select %1, %c, %a : (tensor<?xi1>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
    ingot.yield %2, %1 : tensor<?xf32>, tensor<?xi1>)",
                              {"tensor<?xf32>", "tensor<?xi1>"}));
  std::vector<float> x = randomFloats(100), y(100), fill = {42};
  std::vector<uint8_t> keep(100), mask(100);
  for (size_t i = 0; i < 100; ++i)
    keep[i] = i % 3 == 0;
  call(kernels.function(), 1, 100,
       {{x.data(), 0, 1}, {keep.data(), 0, 1}, {fill.data(), 0, 0}, {y.data(), 0, 1}, {mask.data(), 0, 1}});
  for (size_t i = 0; i < 100; ++i) {
    bool expected = x[i] < 0 || i % 3 == 0;
    EXPECT_EQ(mask[i], expected ? 1 : 0);
    EXPECT_EQ(y[i], expected ? 42 : x[i]);
  }
}

TEST(Codegen, BFloat16IsComputedInFloat) {
  Kernels kernels(clusterText({"tensor<?xbf16>", "tensor<?xbf16>"}, R"(
    %c = ingot.constant dense<2.0> : tensor<bf16>
    %0 = ingot.mul %a, %c : (tensor<?xbf16>, tensor<bf16>) -> tensor<?xbf16>
    %1 = ingot.add %0, %b : (tensor<?xbf16>, tensor<?xbf16>) -> tensor<?xbf16>
    %2 = ingot.cast %1 : (tensor<?xbf16>) -> tensor<?xf32>
    ingot.yield %2 : tensor<?xf32>)",
                              {"tensor<?xf32>"}));
  std::vector<uint16_t> a(40, 0x3FC0), b(40, 0x4000); // 1.5 and 2
  std::vector<float> y(40);
  call(kernels.function(), 1, 40, {{a.data(), 0, 1}, {b.data(), 0, 1}, {y.data(), 0, 1}});
  EXPECT_THAT(y, testing::Each(5.0f));
}

TEST(Codegen, ClustersThatDifferInSizesShareAFunction) {
  std::string text;
  for (const char *type : {"tensor<2x3xf32>", "tensor<5x4xf32>", "tensor<5x4xf64>"})
    text += "func.func @f" + std::to_string(text.size()) +
            clusterText({type},
                        "%0 = ingot.exp %a : (" + std::string(type) + ") -> " + type + "\n ingot.yield %0 : " + type,
                        {type})
                .substr(sizeof("func.func @f") - 1);
  Kernels kernels(text);
  ASSERT_EQ(kernels.clusters.size(), 3u);
  EXPECT_EQ(kernels.symbols.size(), 2u);
  EXPECT_EQ(kernels.clusters[0].getSymbol(), kernels.clusters[1].getSymbol());
  EXPECT_NE(kernels.clusters[0].getSymbol(), kernels.clusters[2].getSymbol());
  EXPECT_EQ(kernels.clusters[0]->getAttrOfType<mlir::BoolAttr>("reduce").getValue(), false);
}

TEST(Codegen, ComplexIsRefusedWithAMessage) {
  mlir::MLIRContext context;
  context.loadDialect<IngotDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(clusterText({"tensor<4xcomplex<f32>>"}, R"(
    %0 = ingot.neg %a : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    ingot.yield %0 : tensor<4xcomplex<f32>>)",
                                                                    {"tensor<4xcomplex<f32>>"}),
                                                        &context);
  ASSERT_TRUE(module);
  auto compiled = compileClusters(*module, TargetCpu::host());
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().str(), testing::HasSubstr("cannot compile ingot.neg"));
}

TEST(Codegen, NoClustersNoLibrary) {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  auto compiled = compileClusters(*module, TargetCpu::host());
  ASSERT_TRUE(compiled);
  EXPECT_TRUE(compiled->library.empty());
}

/// A module with one kernel of the user's.
std::string customText(const std::string &language, const std::string &source) {
  return "func.func @f() -> tensor<1xf32> {\n  %r = ingot.custom {kernel = \"mine\", language = \"" + language +
         "\", source = \"" + source +
         "\", inputs = 0 : i64, sizes = array<i64: 1>, strided = false} : () -> tensor<1xf32>\n  return %r : "
         "tensor<1xf32>\n}";
}

Result<CompiledKernels> compileText(const std::string &text) {
  mlir::MLIRContext context;
  context.loadDialect<IngotDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return internalError("the test's IR does not parse");
  return compileClusters(*module, TargetCpu::host());
}

TEST(Custom, IsCompiledIntoTheLibrary) {
  Kernels kernels(
      customText("c++", R"(extern \"C\" [[gnu::visibility(\"default\")]] int INGOT_KERNEL() { return 7; })"));
  ASSERT_EQ(kernels.symbols.size(), 1u);
  auto function = reinterpret_cast<int (*)()>(kernels.find(kernels.symbols[0]));
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function(), 7);
}

TEST(Custom, MistakesAreTheUsers) {
  auto compiled = compileText(customText("c++", "int f( {}"));
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().kind, ErrorKind::Usage);
  EXPECT_THAT(compiled.error().str(), testing::HasSubstr("the kernel 'mine' does not compile"));
  compiled = compileText(customText("cuda", ""));
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().str(), testing::HasSubstr("'mine' is written in cuda"));
}

TEST(TargetCpu, HostHasAKey) {
  TargetCpu cpu = TargetCpu::host();
  EXPECT_FALSE(cpu.name.empty());
  EXPECT_EQ(cpu.key(), TargetCpu::host().key());
  TargetCpu other = cpu;
  other.features = "";
  EXPECT_NE(cpu.key(), other.key());
}

} // namespace
} // namespace ingot::codegen
