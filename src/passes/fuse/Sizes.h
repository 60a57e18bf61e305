// Which sizes of tensors are equal although they are only known at run time.
#pragma once

#include "dialect/Ops.h"

#include <map>
#include <string>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>

namespace ingot {

/// A size: itself when it is known, else a negative number that only provably equal sizes share.
using SizeKey = int64_t;
using ShapeKey = llvm::SmallVector<SizeKey>;

/// Conservative: sizes that are equal may have different keys.
class Sizes {
public:
  explicit Sizes(mlir::func::FuncOp function);

  /// The sizes of a ranked tensor of the function.
  llvm::ArrayRef<SizeKey> of(mlir::Value tensor);

private:
  void addArguments(mlir::func::FuncOp function);
  void addResult(mlir::Operation *op, mlir::Value result);
  SizeKey dynamicSize(mlir::Operation *op, mlir::RankedTensorType type, int64_t dim);
  SizeKey broadcastSize(mlir::ValueRange operands, int64_t fromEnd);
  SizeKey listedSize(llvm::ArrayRef<int64_t> sizes, mlir::ValueRange dynamic, int64_t dim);
  SizeKey ofNumber(mlir::Value number);
  SizeKey dimOf(mlir::Value tensor, int64_t dim) { return of(tensor)[dim]; }
  SizeKey fresh() { return --lastKey; }

  SizeKey lastKey = 0;
  llvm::DenseMap<mlir::Value, ShapeKey> shapes;
  llvm::DenseMap<mlir::Value, SizeKey> numbers;
  std::map<std::string, SizeKey, std::less<>> symbols;
};

} // namespace ingot
