// Which tensors share memory: every tensor is a view of a base, through a chain of view nodes. Private to this
// folder.
#pragma once

#include "dialect/Ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace ingot {

/// One view node of a chain: `op` applied to the operand called `argument`; the view is result `result`.
struct ViewStep {
  AtenOp op;
  std::string argument;
  unsigned result = 0;

  mlir::Value input() const;
  mlir::RankedTensorType inputType() const;
  mlir::RankedTensorType resultType() const;
};

/// Whether PyTorch may run what has no form of its own in the module that `op` is in.
bool allowsFallback(mlir::Operation *op);

/// The new value of the viewed tensor `parent` when the view becomes `written`; null, after an error at `writer`,
/// when that cannot be expressed.
mlir::Value invertView(mlir::OpBuilder &builder, const ViewStep &step, mlir::Value parent, mlir::Value written,
                       AtenOp writer);

class AliasSets {
public:
  explicit AliasSets(mlir::OpBuilder &builder) : builder(builder) {}

  /// A tensor with memory of its own. Tensors that are never registered are such tensors too.
  void addBase(mlir::Value value) { baseOf(value); }
  /// `step`'s result is a view of its input.
  void addView(mlir::Value result, const ViewStep &step, mlir::Value input);
  /// `alias` is the same tensor as `value`.
  void addAlias(mlir::Value alias, mlir::Value value);

  /// What `value` holds now, made at the builder's place when writes have changed it.
  mlir::Value current(mlir::Value value);
  /// The tensor `value`, and everything that shares its memory, is overwritten with `written`.
  mlir::LogicalResult write(mlir::Value value, mlir::Value written, AtenOp writer);

  bool isWritten(mlir::Value base) const;
  /// It has memory of its own, and is no view.
  bool isBase(mlir::Value value) { return baseOf(value).chain.empty(); }
  /// Row-major without gaps, as far as the chain of views tells.
  bool isContiguous(mlir::Value value);

private:
  struct Base {
    mlir::Value value; ///< its content now
    int version = 0;   ///< number of writes so far
  };
  struct View {
    size_t base = 0;
    std::vector<ViewStep> chain;
    mlir::Value value; ///< its content at `version`
    int version = 0;
  };

  View &baseOf(mlir::Value value);
  mlir::Value apply(const ViewStep &step, mlir::Value input);

  mlir::OpBuilder &builder;
  std::vector<Base> bases;
  llvm::DenseMap<mlir::Value, View> views;
};

} // namespace ingot
