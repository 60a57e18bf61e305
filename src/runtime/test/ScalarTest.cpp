#include "runtime/test/TestPlan.h"

#include <cmath>
#include <gmock/gmock.h>

namespace ingot::test {
namespace {

Result<ScalarValue> compute(const std::string &kernel, std::vector<ScalarValue> numbers, Attributes attributes = {}) {
  Step step{kernel, {}, {}, std::move(attributes), "", ""};
  std::vector<BoundOperand> operands;
  for (ScalarValue &number : numbers)
    operands.push_back({.present = true, .desc = {}, .data = nullptr, .scalar = number});
  std::vector<Value> types(1);
  const KernelDef *def = findKernel(kernel);
  if (!def)
    return internalError("no kernel " + kernel);
  INGOT_TRY(auto results, def->infer(StepContext{step, types, operands, {}}));
  return *results[0].scalar;
}

void expectInt(const std::string &kernel, int64_t a, int64_t b, int64_t expected) {
  auto result = compute(kernel, {a, b});
  ASSERT_OK(result);
  EXPECT_EQ(std::get<int64_t>(*result), expected) << kernel << " " << a << " " << b;
}

TEST(Scalar, Integers) {
  expectInt("arith.addi", 3, 4, 7);
  expectInt("arith.addi", INT64_MAX, 1, INT64_MIN);
  expectInt("arith.subi", 3, 4, -1);
  expectInt("arith.muli", -3, 4, -12);
  expectInt("arith.divsi", -7, 2, -3);
  expectInt("arith.floordivsi", -7, 2, -4);
  expectInt("arith.floordivsi", 7, -2, -4);
  expectInt("arith.floordivsi", 8, 2, 4);
  expectInt("arith.ceildivsi", 7, 2, 4);
  expectInt("arith.ceildivsi", -7, 2, -3);
  expectInt("arith.remsi", -7, 2, -1);
  expectInt("arith.divsi", INT64_MIN, -1, INT64_MIN);
  expectInt("arith.remsi", INT64_MIN, -1, 0);
  expectInt("arith.maxsi", -7, 2, 2);
  expectInt("arith.minsi", -7, 2, -7);
  expectInt("arith.andi", 12, 10, 8);
  expectInt("arith.shli", 1, 70, 0);
  expectInt("math.ipowi", 3, 4, 81);
}

TEST(Scalar, DivisionByZeroIsAnError) {
  for (const char *kernel : {"arith.divsi", "arith.floordivsi", "arith.ceildivsi", "arith.remsi"}) {
    auto result = compute(kernel, {int64_t(1), int64_t(0)});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Usage);
  }
}

TEST(Scalar, Comparisons) {
  auto compare = [](int64_t a, int64_t b, const char *predicate) {
    auto result = compute("arith.cmpi", {a, b}, {{"predicate", std::string(predicate)}});
    return result && std::get<bool>(*result);
  };
  EXPECT_TRUE(compare(-1, 1, "slt"));
  EXPECT_FALSE(compare(-1, 1, "ult"));
  EXPECT_TRUE(compare(2, 2, "sge"));
  EXPECT_TRUE(compare(2, 3, "ne"));
  auto compareFloat = [](double a, double b, const char *predicate) {
    auto result = compute("arith.cmpf", {a, b}, {{"predicate", std::string(predicate)}});
    return result && std::get<bool>(*result);
  };
  double nan = std::nan("");
  EXPECT_TRUE(compareFloat(1, 2, "olt"));
  EXPECT_FALSE(compareFloat(nan, 2, "olt"));
  EXPECT_TRUE(compareFloat(nan, 2, "ult"));
  EXPECT_TRUE(compareFloat(nan, 2, "une"));
  EXPECT_FALSE(compareFloat(nan, 2, "one"));
  EXPECT_FALSE(compute("arith.cmpi", {int64_t(1), int64_t(2)}, {{"predicate", std::string("what")}}));
  EXPECT_FALSE(compute("arith.cmpi", {int64_t(1), 2.0}, {{"predicate", std::string("eq")}}));
}

TEST(Scalar, Conversions) {
  EXPECT_EQ(std::get<double>(*compute("arith.sitofp", {int64_t(3)})), 3.0);
  EXPECT_EQ(std::get<int64_t>(*compute("arith.fptosi", {-3.7})), -3);
  EXPECT_FALSE(compute("arith.fptosi", {1e30}));
  EXPECT_FALSE(compute("arith.fptosi", {std::nan("")}));
  EXPECT_EQ(std::get<int64_t>(*compute("arith.extui", {true})), 1);
  EXPECT_EQ(std::get<int64_t>(*compute("arith.select", {false, int64_t(1), int64_t(2)})), 2);
  EXPECT_EQ(std::get<bool>(*compute("arith.xori", {true, true})), false);
  EXPECT_EQ(std::get<double>(*compute("arith.constant", {}, {{"value", 2.5}})), 2.5);
}

TEST(Scalar, EveryKernelRefusesNonsense) {
  for (const KernelDef *def : allKernels()) {
    Step step{def->name, {}, {}, {}, "", ""};
    std::vector<Value> types(1);
    StepContext nothing{step, types, {}, {}};
    if (!def->infer) {
      if (def->evaluate)
        EXPECT_FALSE(def->evaluate(nothing)) << def->name;
      continue;
    }
    (void)def->infer(nothing);
    BoundOperand number{.present = true, .desc = {}, .data = nullptr, .scalar = ScalarValue(int64_t(1))};
    BoundOperand scalarTensor{true, TensorDesc::contiguous(DType::Float32, {}), nullptr, {}};
    for (const BoundOperand &operand : {number, scalarTensor, BoundOperand{}}) {
      std::vector<BoundOperand> operands(5, operand);
      (void)def->infer(StepContext{step, types, operands, {}});
    }
  }
}

} // namespace
} // namespace ingot::test
