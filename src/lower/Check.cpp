// Compares a carrier with its operator's schema, so that lowerings can rely on it: programs come from
// files, and a wrong file must not crash the compiler.
#include "lower/Lowering.h"

#include "pt2/Schema.h"

using namespace mlir;
using ingot::pt2::SchemaType;
using ingot::pt2::TypeKind;

namespace ingot::lower {

namespace {

class Checker {
public:
  explicit Checker(AtenOp op) : op(op) {}

  bool fits(Attribute attr, const SchemaType &type) {
    if (isa<UnitAttr>(attr))
      return type.isOptional();
    if (!type.isList())
      return fitsOne(attr, type.base, /*orNone=*/false);
    if (isa<DenseI64ArrayAttr>(attr))
      return type.base == TypeKind::Int || type.base == TypeKind::SymInt;
    auto list = dyn_cast<ArrayAttr>(attr);
    if (!list) // a single number for `int[2]`
      return type.base != TypeKind::Tensor && fitsOne(attr, type.base, false);
    return llvm::all_of(list, [&](Attribute entry) { return fitsOne(entry, type.base, true); });
  }

private:
  bool fitsOne(Attribute attr, TypeKind kind, bool orNone) {
    if (isa<UnitAttr>(attr))
      return orNone && kind == TypeKind::Tensor;
    switch (kind) {
    case TypeKind::Tensor:
      return isTensor(attr) || isNumber(attr);
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::Float:
    case TypeKind::Bool:
    case TypeKind::SymBool:
    case TypeKind::Scalar:
      return isNumber(attr);
    case TypeKind::String:
      return isa<StringAttr>(attr);
    case TypeKind::ScalarType:
      return isa<TypeAttr>(attr);
    default:
      return true; // devices, layouts, memory formats: no lowering depends on them
    }
  }

  Value operandAt(Attribute attr) {
    auto ref = dyn_cast<ValueRefAttr>(attr);
    bool isValid = ref && ref.getIndex() >= 0 && ref.getIndex() < op->getNumOperands();
    return isValid ? op->getOperand(ref.getIndex()) : Value();
  }
  bool isTensor(Attribute attr) {
    Value value = operandAt(attr);
    return value && isa<RankedTensorType>(value.getType());
  }
  bool isNumber(Attribute attr) {
    if (isa<IntegerAttr, FloatAttr>(attr) || complexOf(attr))
      return true;
    Value value = operandAt(attr);
    return value && !isa<RankedTensorType>(value.getType());
  }

  AtenOp op;
};

bool returnsNumbers(const pt2::OpSchema &schema) {
  return llvm::any_of(schema.returns,
                      [](const pt2::SchemaReturn &result) { return result.type.base != TypeKind::Tensor; });
}

} // namespace

std::string checkArguments(AtenOp op) {
  StringRef target = op.getTarget();
  const pt2::OpSchema *schema = pt2::findSchema(std::string_view(target.data(), target.size()));
  if (!schema) // operators on symbolic numbers, of Python itself, have no schema
    return {};
  Checker checker(op);
  for (const pt2::SchemaArgument &argument : schema->arguments) {
    Attribute attr = op.getArgs().get(argument.name);
    if (!attr)
      return "argument `" + argument.name + "` is missing";
    if (!checker.fits(attr, argument.type))
      return "argument `" + argument.name + "` is no " + argument.type.str();
  }
  if (!returnsNumbers(*schema))
    for (Type type : op->getResultTypes())
      if (!isa<RankedTensorType>(type))
        return "a result is no tensor";
  return {};
}

} // namespace ingot::lower
