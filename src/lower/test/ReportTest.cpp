// The report of what is left over, on a small program.
#include "lower/Report.h"

#include "dialect/Dialect.h"
#include "lower/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ingot::lower {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char *kProgram = R"(
func.func @main(%x: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<?x1xi64>, tensor<4xf32>) {
  %0 = ingot.aten "aten::_values_copy"(%x) {args = {self = #ingot.value<0>}}
    : (tensor<4xf32>) -> tensor<?x1xi64> loc("nonzero"(fused<"encoder">["model.py":12:0]))
  %1 = ingot.aten "aten::_values_copy"(%x) {args = {self = #ingot.value<0>}}
    : (tensor<4xf32>) -> tensor<?x1xi64> loc("nonzero_1"(fused<"decoder">["model.py":20:0]))
  %2 = ingot.aten "aten::mean"(%i) {args = {dtype, self = #ingot.value<0>}}
    : (tensor<4xi64>) -> tensor<f32> loc("mean"(fused<"encoder">["model.py":13:0]))
  %3 = ingot.aten "mine::op"(%2) {args = {x = #ingot.value<0>}} : (tensor<f32>) -> tensor<4xf32>
  return %0, %3 : tensor<?x1xi64>, tensor<4xf32>
})";

class Report : public ::testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<IngotDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(kProgram, &context);
    ASSERT_TRUE(module);
    mlir::PassManager passes(&context);
    passes.addNestedPass<mlir::func::FuncOp>(createLowerAtenPass());
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(Report, CollectsEverythingOnce) {
  std::vector<LeftOver> found = collectLeftOvers(*module);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].op, "aten::_values_copy");
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].firstNode, "nonzero");
  EXPECT_EQ(found[0].modulePath, "encoder");
  EXPECT_THAT(found[0].sources, ElementsAre("model.py:12", "model.py:20"));
  EXPECT_THAT(found[0].whatToDo, HasSubstr("run_decompositions"));
  EXPECT_EQ(found[1].op, "aten::mean");
  EXPECT_THAT(found[1].reason, HasSubstr("floating-point"));
  EXPECT_EQ(found[2].op, "mine::op");
  EXPECT_THAT(found[2].whatToDo, HasSubstr("custom operator"));
}

TEST_F(Report, TextNamesAll) {
  std::string text = formatLeftOvers(collectLeftOvers(*module));
  EXPECT_THAT(text, HasSubstr("4 nodes have no native form:"));
  EXPECT_THAT(text, HasSubstr("aten::_values_copy, 2 nodes, first 'nonzero' in encoder"));
  EXPECT_THAT(text, HasSubstr("where: model.py:12, model.py:20"));
  EXPECT_THAT(text, HasSubstr("mine::op, 1 node"));
}

TEST_F(Report, NothingLeftIsNoText) { EXPECT_EQ(formatLeftOvers({}), ""); }

} // namespace
} // namespace ingot::lower
