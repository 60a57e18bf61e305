// What codegen needs to know about a cluster: its iteration shape, which values are one a row, in how
// many loops a row is computed, and which strides its operands may be expected to have.
#pragma once

#include "base/Result.h"
#include "dialect/Ops.h"

#include <optional>
#include <string>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>

namespace ingot::codegen {

/// Inner strides of all pointers, each 0 or 1. Empty stands for strides known at run time only.
using StridePattern = llvm::SmallVector<int8_t>;

/// An element of a row that a loop keeps in the memory of result `output`, for later loops to read.
struct Spill {
  mlir::Value value;
  unsigned loop;
  unsigned output;
};

class Cluster {
public:
  /// Fails for clusters that codegen cannot compile; the error says why.
  static Result<Cluster> analyse(ClusterOp op);

  mlir::Block &body() const { return ClusterOp(operation).getBody().front(); }
  mlir::OperandRange outputs() const { return body().getTerminator()->getOperands(); }
  size_t pointerCount() const { return body().getNumArguments() + outputs().size(); }
  mlir::RankedTensorType pointerType(size_t index) const;

  int64_t reduceRank() const { return reducedDims; }
  /// True for values that are the same along a row: constants, and what has the reduced shape.
  bool isRow(mlir::Value value) const { return rows.contains(value); }

  /// The loops over a row, in order. Loop l computes the reductions whose input needs l earlier loops.
  unsigned loopCount() const { return static_cast<unsigned>(reductions.size()); }
  llvm::ArrayRef<ReduceOp> reductionsIn(unsigned loop) const { return reductions[loop]; }
  /// Number of loops that must be over before `value` can be computed.
  unsigned stageOf(mlir::Value value) const { return stages.lookup(value); }
  /// The loop that stores the results; all of them in the last one, so that results may lie in the operands' memory.
  std::optional<unsigned> outputLoop() const { return storingLoop; }
  llvm::ArrayRef<Spill> spills() const { return spilled; }
  /// The spill that `loop` can read `value` from.
  const Spill *spillBefore(mlir::Value value, unsigned loop) const;
  /// The values, one an element, that `loop` computes or loads.
  llvm::DenseSet<mlir::Value> neededIn(unsigned loop) const;

  /// Patterns to compile fast loops for, likely ones first.
  llvm::ArrayRef<StridePattern> patterns() const { return stridePatterns; }
  bool hasExpensiveOp() const;

  /// Text that is equal for clusters that one function can serve.
  std::string structuralKey() const;

private:
  explicit Cluster(ClusterOp op) : operation(op) {}
  Status checkOps();
  void findShape();
  void findRows();
  Status findStages();
  void findPatterns();
  void findSpills();
  bool trySpill(mlir::Value value);
  bool hasExpensiveCone(mlir::Value value) const;
  bool mayShareMemory(mlir::BlockArgument operand) const;
  bool hasReducedShape(mlir::Value value) const;
  int64_t sizeAt(mlir::Type type, size_t dim) const;
  void addPattern(llvm::function_ref<bool(mlir::RankedTensorType)> isBroadcast);

  ClusterOp operation;
  llvm::SmallVector<int64_t> shape; ///< common shape that everything broadcasts to
  int64_t reducedDims = 0;
  llvm::DenseSet<mlir::Value> rows;
  llvm::DenseMap<mlir::Value, unsigned> stages;
  llvm::SmallVector<llvm::SmallVector<ReduceOp, 2>> reductions;
  std::optional<unsigned> storingLoop;
  llvm::SmallVector<Spill> spilled;
  llvm::SmallVector<StridePattern> stridePatterns;
};

} // namespace ingot::codegen
