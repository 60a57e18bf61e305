#include "dialect/InferResults.h"

#include "dialect/Inference.h"
#include "dialect/Ops.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace ingot {

//===------------------------------------------------------------------------------------------===//
// What rules see
//===------------------------------------------------------------------------------------------===//

Type Inference::i1() const { return IntegerType::get(context(), 1); }
Type Inference::i32() const { return IntegerType::get(context(), 32); }
Type Inference::i64() const { return IntegerType::get(context(), 64); }

Type Inference::type(size_t index) {
  size_t position = index;
  if (!op.groups.empty()) {
    position = 0;
    for (int32_t count : op.groups.take_front(index))
      position += count;
    if (!hasOperand(index))
      position = op.operands.size();
  }
  if (position < op.operands.size())
    return op.operands[position];
  fail("operand number " + std::to_string(index) + " is missing");
  return RankedTensorType::get({}, i1());
}

RankedTensorType Inference::tensor(size_t index) {
  if (auto tensor = dyn_cast<RankedTensorType>(type(index)))
    return tensor;
  fail("operand number " + std::to_string(index) + " is no tensor");
  return RankedTensorType::get({}, i1());
}

Attribute Inference::attribute(StringRef name) {
  Attribute value = op.attributes.get(name);
  if (!value)
    fail("attribute '" + name.str() + "' is missing");
  return value;
}

int64_t Inference::integer(StringRef name) {
  Attribute value = attribute(name);
  if (auto boolean = dyn_cast_or_null<BoolAttr>(value))
    return boolean.getValue();
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    return integer.getValue().getSExtValue();
  fail("attribute '" + name.str() + "' is no number");
  return 0;
}

ShapeRef Inference::list(StringRef name) {
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attribute(name)))
    return list.asArrayRef();
  fail("attribute '" + name.str() + "' is no list of integers");
  return {};
}

Type Inference::dtype() {
  if (op.dtype)
    return op.dtype;
  fail("the element type of the result must be given");
  return i1();
}

RankedTensorType Inference::withSpatial(RankedTensorType x, ShapeRef spatial) {
  if (spatial.empty() || static_cast<int64_t>(spatial.size()) >= x.getRank())
    return {};
  Shape shape(x.getShape().drop_back(spatial.size()));
  llvm::append_range(shape, spatial);
  return withShape(x, shape);
}

//===------------------------------------------------------------------------------------------===//
// Kinds of ops
//===------------------------------------------------------------------------------------------===//

/// Operands broadcast; what the op is decides the element type.
static Types inferElementwise(Inference &op, RegisteredOperationName name) {
  for (size_t i = 0; i < std::max<size_t>(op.operands().size(), 1); ++i)
    (void)op.tensor(i);
  if (!op.problem.empty())
    return {};
  RankedTensorType type = elementwiseType(op.operands());
  if (!type)
    return {Type()};
  if (name.hasTrait<BooleanResult>())
    return {withElement(type, op.i1())};
  if (name.getStringRef() == CastOp::getOperationName())
    return {withElement(type, op.dtype())};
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  if (complex && name.getStringRef() == AbsOp::getOperationName())
    return {withElement(type, complex.getElementType())};
  return {type};
}

/// Arithmetic on symbolic numbers: comparisons give i1, the rest what they take. Conversions leave it open.
static Types inferArith(Inference &op) {
  StringRef name = op.op.name;
  if (name == "arith.constant") {
    auto value = dyn_cast_or_null<TypedAttr>(op.attribute("value"));
    return {value ? value.getType() : Type()};
  }
  if (name == "arith.cmpi" || name == "arith.cmpf")
    return {op.i1()};
  if (name == "arith.select")
    return {op.type(1)};
  static constexpr StringRef kConversions[] = {"arith.sitofp", "arith.uitofp", "arith.fptosi",
                                               "arith.fptoui", "arith.extui",  "arith.extsi"};
  if (llvm::is_contained(kConversions, name))
    return {op.dtype()};
  return {op.type(0)};
}

static std::string typesText(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(types, out);
  return "(" + text + ")";
}

Result<Types> inferResultTypes(const OpDescription &description) {
  Inference op(description);
  auto name = RegisteredOperationName::lookup(description.name, op.context());
  InferRule rule = findInferRule(description.name);
  Types types;
  if (name && name->hasTrait<Elementwise>())
    types = inferElementwise(op, *name);
  else if (description.name.starts_with("arith."))
    types = inferArith(op);
  else if (rule)
    types = rule(op);
  else
    return usageError("the result types of " + description.name.str() +
                      " cannot be told from its operands; give them (result_type)");
  if (!op.problem.empty())
    return usageError(description.name.str() + ": " + op.problem);
  if (llvm::is_contained(types, Type()))
    return usageError(description.name.str() + ": operands " + typesText(description.operands) +
                      " and attributes do not fit together");
  return types;
}

} // namespace ingot
