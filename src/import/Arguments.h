// Arguments of nodes as attributes and operands of carrier operations. Private to this folder.
#pragma once

#include "base/Result.h"
#include "pt2/Graph.h"
#include "pt2/Schema.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

/// The values of one graph by name. Sub-graphs have scopes of their own.
using Scope = llvm::StringMap<mlir::Value>;

/// Collects the operands and sub-graphs of one node while its arguments are converted.
class ArgumentConverter {
public:
  ArgumentConverter(mlir::Builder &builder, const Scope &scope) : builder(builder), scope(scope) {}

  Result<mlir::Attribute> convert(const pt2::Argument &argument);

  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<const pt2::Graph *> graphs;

private:
  Result<mlir::Attribute> convertValue(llvm::StringRef name);
  Result<mlir::Attribute> convertDict(const pt2::ArgumentDict &dict);
  Result<mlir::Attribute> convertLiteral(const pt2::Argument &argument);
  Result<mlir::Attribute> convertTagged(const pt2::Argument &argument);
  mlir::Attribute complexAttr(std::complex<double> number);
  mlir::Attribute tagged(llvm::StringRef kind, llvm::StringRef value);
  mlir::Attribute literal(int64_t value) { return builder.getI64IntegerAttr(value); }
  mlir::Attribute literal(double value) { return builder.getF64FloatAttr(value); }
  mlir::Attribute literal(bool value) { return builder.getBoolAttr(value); }

  template <typename List, typename Convert> Result<mlir::Attribute> list(const List &items, Convert convert);
  template <typename T> Result<mlir::Attribute> symbolic(const pt2::SymRef<T> &ref);

  mlir::Builder &builder;
  const Scope &scope;
};

/// `argument` in the form that `type` asks for: 2 for a float is 2.0, 3 for `int[2]` is [3, 3].
pt2::Argument coerce(const pt2::Argument &argument, const pt2::SchemaType &type);

} // namespace ingot
