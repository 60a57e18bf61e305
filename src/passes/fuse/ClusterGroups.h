// Decides which ops of a block share a cluster.
#pragma once

#include "passes/fuse/Sizes.h"

#include <vector>

#include <llvm/ADT/DenseSet.h>
#include <mlir/IR/Block.h>

namespace ingot {

/// Ops that become one cluster, or one op that stays as it is.
struct ClusterGroup {
  llvm::SmallVector<unsigned> members; ///< positions in the block, ascending; empty once merged into another group
  bool isCluster = false;
  bool isConstant = false; ///< depends on weights and constants alone
  ShapeKey shape;          ///< what the loops run over
  int64_t reduceRank = 0;  ///< number of last dimensions that its reductions reduce; 0 without reductions
};

class ClusterGroups {
public:
  ClusterGroups(mlir::Block &block, Sizes &sizes, const llvm::DenseSet<mlir::Operation *> &constants);

  /// The groups in an order in which they can run, each once.
  std::vector<const ClusterGroup *> inOrder() const;
  mlir::Operation *op(unsigned position) const { return ops[position]; }

  /// What a group reads from outside; constants that the cluster can hold itself are not among it.
  llvm::SmallVector<mlir::Value> operandsOf(const ClusterGroup &group) const;
  /// What a group computes for others.
  llvm::SmallVector<mlir::Value> resultsOf(const ClusterGroup &group) const;

private:
  void addDependencies(mlir::Block &block);
  void start(unsigned position, const llvm::DenseSet<mlir::Operation *> &constants);
  void joinProducers(unsigned position);
  bool tryMerge(unsigned producer, unsigned consumer);
  bool unify(ClusterGroup &merged, const ClusterGroup &consumer) const;
  bool fitsRows(const ClusterGroup &group) const;
  bool isSmall(const ClusterGroup &group) const;
  bool reaches(unsigned from, unsigned target, unsigned except) const;
  bool contains(const ClusterGroup &group, mlir::Operation *op) const;

  Sizes &sizes;
  std::vector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  std::vector<llvm::SmallVector<unsigned, 4>> dependencies; ///< positions that must run before
  std::vector<unsigned> groupOf;                            ///< by position; an index into groups
  std::vector<ClusterGroup> groups;
};

/// True when the cluster of `user` can hold a copy of the constant instead of reading it from memory.
bool canHoldConstant(mlir::Operation *user, mlir::Value operand);

} // namespace ingot
