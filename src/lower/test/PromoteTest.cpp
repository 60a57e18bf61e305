// torch.result_type, by examples that PyTorch's documentation and tests give.
#include "lower/Promote.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace ingot::lower {
namespace {

using mlir::Type;

class Promote : public ::testing::Test {
protected:
  mlir::MLIRContext context;
  mlir::Builder b{&context};
  mlir::Block block;

  Operand tensor(Type dtype, int64_t rank = 1) {
    llvm::SmallVector<int64_t> shape(rank, 2);
    auto type = mlir::RankedTensorType::get(shape, dtype);
    return Operand(block.addArgument(type, b.getUnknownLoc()));
  }
  Type of(llvm::ArrayRef<Operand> operands) { return resultType(&context, operands); }

  Type f32 = b.getF32Type(), f64 = b.getF64Type(), f16 = b.getF16Type(), bf16 = b.getBF16Type();
  Type i1 = b.getI1Type(), i8 = b.getI8Type(), i32 = b.getI32Type(), i64 = b.getI64Type();
  Type u8 = b.getIntegerType(8, false), u16 = b.getIntegerType(16, false);
  Operand two = Number::of(int64_t{2}), half = Number::of(0.5), yes = Number::of(true);
};

TEST_F(Promote, PairsOfTypes) {
  EXPECT_EQ(promoteTypes(f16, bf16), f32);
  EXPECT_EQ(promoteTypes(i64, f16), f16);
  EXPECT_EQ(promoteTypes(i1, u8), u8);
  EXPECT_EQ(promoteTypes(u8, i8), b.getIntegerType(16));
  EXPECT_EQ(promoteTypes(u8, i32), i32);
  EXPECT_EQ(promoteTypes(f32, f64), f64);
  EXPECT_EQ(promoteTypes(f64, mlir::ComplexType::get(f32)), mlir::ComplexType::get(f64));
  EXPECT_FALSE(promoteTypes(u16, i32));
  EXPECT_FALSE(promoteTypes(b.getFloat8E5M2Type(), f32));
}

TEST_F(Promote, NumbersKeepTheTensorsType) {
  EXPECT_EQ(of({tensor(f16), half}), f16);
  EXPECT_EQ(of({tensor(i32), two}), i32);
  EXPECT_EQ(of({tensor(u8), yes}), u8);
}

TEST_F(Promote, NumbersOfAHigherKindChangeIt) {
  EXPECT_EQ(of({tensor(i64), half}), f32);
  EXPECT_EQ(of({tensor(i1), two}), i64);
  EXPECT_EQ(of({tensor(i64, 0), half}), f32);
}

TEST_F(Promote, ZeroDimensionalTensorsCountAsNumbers) {
  EXPECT_EQ(of({tensor(f32), tensor(f64, 0)}), f32);
  EXPECT_EQ(of({tensor(i32), tensor(i64, 0)}), i32);
  EXPECT_EQ(of({tensor(i32), tensor(f64, 0)}), f64);
  EXPECT_EQ(of({tensor(f16, 0), tensor(f64, 0)}), f64);
  EXPECT_EQ(of({tensor(i64, 0), tensor(i1)}), i64);
}

} // namespace
} // namespace ingot::lower
