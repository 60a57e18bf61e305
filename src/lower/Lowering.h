// What a lowering function sees: the carrier's arguments by their schema names, and the builders.
//
// A lowering checks types, refuses what it cannot do, builds ops, and hands over the results:
//
//   LogicalResult lowerSquare(LowerContext &ctx) {
//     Value x = ctx.tensor("self");
//     return ctx.replace(ctx.binary<MulOp>(x, x));
//   }
//
// When it refuses, everything it built goes away and the carrier stays.
#pragma once

#include "lower/Emit.h"

#include "mlir/Support/LogicalResult.h"

#include <optional>
#include <string>

namespace ingot::lower {

/// On carriers that a lowering refused: why (string).
inline constexpr const char *kRefusedAttr = "ingot.refused";
/// Starts the reasons that are mistakes of ours, not limits.
inline constexpr const char *kBugPrefix = "bug in Ingot: ";

class LowerContext : public Emitter {
public:
  LowerContext(AtenOp op, mlir::OpBuilder &builder) : Emitter(builder, op.getLoc()), op(op) {}

  AtenOp op;

  // Arguments. checkArguments() has compared them with the schema before a lowering runs. What must
  // be known while converting and is not makes the lowering refuse; the accessor then gives a
  // harmless stand-in.

  mlir::Attribute attr(llvm::StringRef name);
  bool has(llvm::StringRef name) { return static_cast<bool>(attr(name)); }
  bool isNone(llvm::StringRef name);
  /// A number where the schema says Tensor becomes a zero-dimensional one.
  mlir::Value tensor(llvm::StringRef name);
  /// Null for None.
  mlir::Value optionalTensor(llvm::StringRef name);
  /// Null entries for None.
  llvm::SmallVector<mlir::Value> tensors(llvm::StringRef name);
  Operand operand(llvm::StringRef name);
  Number number(llvm::StringRef name);
  double real(llvm::StringRef name);
  std::optional<double> optionalReal(llvm::StringRef name);
  bool flag(llvm::StringRef name);
  llvm::StringRef string(llvm::StringRef name);
  int64_t integer(llvm::StringRef name);
  Size size(llvm::StringRef name);
  Sizes sizeList(llvm::StringRef name);
  llvm::SmallVector<int64_t> integers(llvm::StringRef name);
  /// A list of `count`; a single entry is repeated, an empty or None list is `count` times `fill`.
  llvm::SmallVector<int64_t> integers(llvm::StringRef name, size_t count, int64_t fill);
  llvm::SmallVector<double> reals(llvm::StringRef name);
  /// A dimension of a tensor of `rank`; 0 for zero-dimensional tensors.
  int64_t axis(llvm::StringRef name, int64_t rank);
  /// None and the empty list mean all.
  llvm::SmallVector<int64_t> axes(llvm::StringRef name, int64_t rank);
  int64_t normalizeAxis(int64_t axis, int64_t rank);

  using Emitter::sizes;

  // Results.

  size_t numResults() { return op->getNumResults(); }
  bool isUsed(size_t result) { return !op->getResult(result).use_empty(); }
  mlir::RankedTensorType resultType(size_t result = 0);
  mlir::Type resultDtype(size_t result = 0) { return resultType(result).getElementType(); }

  /// Says why this node cannot be lowered. The first reason stays.
  mlir::LogicalResult refuse(const llvm::Twine &reason);
  /// A wrong result type is a mistake of ours.
  mlir::LogicalResult refuseAsBug(const llvm::Twine &what);
  /// Hands over the results; null for those that are not used. Their types must be the carrier's.
  mlir::LogicalResult replace(llvm::ArrayRef<mlir::Value> values);

  bool isRefused() const { return !reason.empty(); }
  llvm::StringRef refusal() const { return reason; }
  llvm::ArrayRef<mlir::Value> replacements() const { return results; }

private:
  mlir::Value operandAt(mlir::Attribute ref);
  Operand toOperand(mlir::Attribute attr);
  Size toSize(llvm::StringRef name, mlir::Attribute attr);
  int64_t toLiteral(llvm::StringRef name, Size size);
  mlir::Value toTensor(mlir::Attribute attr);
  mlir::Value conform(mlir::Value value, mlir::Type wanted, size_t result);

  std::string reason;
  llvm::SmallVector<mlir::Value> results;
};

using LowerFn = mlir::LogicalResult (*)(LowerContext &);

/// The complex number that a literal argument is; nullopt for everything else.
std::optional<std::complex<double>> complexOf(mlir::Attribute attr);

/// What is wrong with a carrier's arguments or results by its schema; empty when nothing is.
std::string checkArguments(AtenOp op);

/// Lowers one carrier and erases it, or leaves it with kRefusedAttr where its row refuses. Carriers
/// without a row are left alone.
void lowerCarrier(AtenOp op);

} // namespace ingot::lower
