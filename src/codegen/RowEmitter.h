// The code that computes one row of a cluster: its loops over the elements, and what lies between them.
#pragma once

#include "codegen/Cluster.h"
#include "codegen/Reduction.h"

#include <llvm/IR/IRBuilder.h>

namespace ingot::codegen {

/// What is the same for all rows of a kernel.
struct KernelArguments {
  llvm::SmallVector<llvm::Value *> pointers, outerStrides, innerStrides;
  llvm::Value *rowCount = nullptr, *rowLength = nullptr;
};

class RowEmitter {
public:
  /// `pattern` gives the inner strides; when null they are those of the arguments.
  RowEmitter(llvm::IRBuilder<> &builder, const Cluster &cluster, const KernelArguments &arguments,
             const StridePattern *pattern)
      : builder(builder), cluster(cluster), arguments(arguments), pattern(pattern) {}

  /// Emits the row at the builder's position, and leaves the builder after it.
  void emit(llvm::Value *rowIndex);

private:
  using Values = llvm::DenseMap<mlir::Value, llvm::Value *>;
  struct Loop;

  bool isHoisted(unsigned argument) const;
  llvm::Type *typeAt(size_t pointer) const;
  llvm::Value *address(size_t pointer, llvm::Value *index);
  llvm::Value *valueOf(mlir::Value value, const Values *elements = nullptr) const;
  llvm::Value *compute(mlir::Operation &op, const Values *elements);
  llvm::Constant *constant(ConstantOp op) const;

  void computeRowValues(unsigned stage);
  void emitLoop(unsigned number);
  llvm::SmallVector<llvm::Value *> emitElements(unsigned number, llvm::Value *begin, llvm::Value *end,
                                                llvm::ArrayRef<Reduction> reductions);
  llvm::SmallVector<llvm::Value *> emitBlocks(unsigned number, llvm::Value *begin, llvm::Value *end,
                                              llvm::ArrayRef<Reduction> reductions, llvm::ArrayRef<int64_t> blocks);
  void loadElements(Loop &loop);
  void computeElements(Loop &loop);
  void storeElements(Loop &loop);
  llvm::MDNode *loopMetadata(llvm::MDNode *accessGroup) const;
  void storeRowResults();

  llvm::IRBuilder<> &builder;
  const Cluster &cluster;
  const KernelArguments &arguments;
  const StridePattern *pattern;
  llvm::SmallVector<llvm::Value *> rowPointers;
  Values rowValues; ///< what is known outside the loops
};

} // namespace ingot::codegen
