// mlir-opt with the ingot dialect and passes, for IR tests and for looking at one pass at a time.
#include "dialect/Dialect.h"
#include "pipeline/Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<ingot::IngotDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  mlir::registerTransformsPasses();
  ingot::registerIngotPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "ingot's passes", registry));
}
