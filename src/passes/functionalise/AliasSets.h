// Which tensors share memory: every tensor is a view of a base, through a chain of view nodes. Private to this
// folder.
#pragma once

#include "dialect/Ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <set>
#include <string>
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
  /// Whether `copy` is one follows from the sizes of a call: it is a view of `input` where one of `notOne` is 1, or nobody
  /// knows where (none).
  void addUncertainCopy(mlir::Value copy, mlir::Value input, mlir::ArrayAttr notOne);
  /// `alias` is the same tensor as `value`.
  void addAlias(mlir::Value alias, mlir::Value value);

  /// What `value` holds now, made at the builder's place when writes have changed it.
  mlir::Value current(mlir::Value value);
  /// The same in the shape that it had first: where `squeeze_` and its like have given it another, what its memory holds.
  mlir::Value content(mlir::Value value);
  /// The tensor `value`, and everything that shares its memory, is overwritten with `written`.
  mlir::LogicalResult write(mlir::Value value, mlir::Value written, AtenOp writer);

  bool isWritten(mlir::Value base) const;
  /// The tensor whose memory `value` is in.
  mlir::Value memoryOf(mlir::Value value) const {
    auto it = views.find(value);
    return it == views.end() ? value : bases[it->second.base].first;
  }
  /// Symbols that must not be 1, since writes would then reach what is taken for a copy.
  const std::set<std::string> &notOne() const { return symbolsNotOne; }
  void addNotOne(const std::set<std::string> &symbols) { symbolsNotOne.insert(symbols.begin(), symbols.end()); }
  /// It has memory of its own, and is no view.
  bool isBase(mlir::Value value) { return baseOf(value).chain.empty(); }
  /// Row-major without gaps, as far as the chain of views tells.
  bool isContiguous(mlir::Value value);

private:
  struct Base {
    mlir::Value value; ///< its content now
    mlir::Value first; ///< and at first
    int version = 0;   ///< number of writes so far
  };
  struct View {
    size_t base = 0;
    std::vector<ViewStep> chain;
    mlir::Value value; ///< its content at `version`
    int version = 0;
  };

  struct UncertainCopy {
    size_t copy = 0, original = 0; ///< bases
    mlir::ArrayAttr notOne;
  };

  View &baseOf(mlir::Value value);
  /// Whether somebody sees what base number `base` holds after `writer`.
  bool isSeenAfter(size_t base, AtenOp writer);
  mlir::LogicalResult checkCopies(size_t base, AtenOp writer);
  mlir::Value apply(const ViewStep &step, mlir::Value input);

  mlir::OpBuilder &builder;
  std::vector<Base> bases;
  llvm::DenseMap<mlir::Value, View> views;
  std::vector<UncertainCopy> uncertainCopies;
  std::set<std::string> symbolsNotOne;
};

} // namespace ingot
