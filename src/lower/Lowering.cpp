#include "lower/Lowering.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// Arguments
//===------------------------------------------------------------------------------------------===//

Attribute LowerContext::attr(StringRef name) { return op.getArgs().get(name); }

bool LowerContext::isNone(StringRef name) {
  Attribute value = attr(name);
  return !value || isa<UnitAttr>(value);
}

Value LowerContext::operandAt(Attribute ref) {
  auto value = dyn_cast_or_null<ValueRefAttr>(ref);
  return value ? op->getOperand(value.getIndex()) : Value();
}

std::optional<std::complex<double>> complexOf(Attribute attr) {
  auto tagged = dyn_cast<TaggedAttr>(attr);
  if (!tagged || tagged.getKind() != "complex")
    return std::nullopt;
  auto [real, imaginary] = tagged.getValue().split(',');
  double parts[2] = {0, 0};
  if (real.getAsDouble(parts[0]) || imaginary.getAsDouble(parts[1]))
    return std::nullopt;
  return std::complex<double>(parts[0], parts[1]);
}

Operand LowerContext::toOperand(Attribute attr) {
  if (Value value = operandAt(attr))
    return isa<RankedTensorType>(value.getType()) ? Operand(value) : Operand(Number::of(value));
  if (auto real = dyn_cast<FloatAttr>(attr))
    return Number::of(real.getValueAsDouble());
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return Number::of(boolean.getValue());
  if (auto tagged = dyn_cast<TaggedAttr>(attr))
    return Number::of(complexOf(tagged).value_or(0));
  return Number::of(cast<IntegerAttr>(attr).getValue().getSExtValue());
}

Value LowerContext::toTensor(Attribute attr) {
  if (!attr || isa<UnitAttr>(attr))
    return {};
  Operand value = toOperand(attr);
  return as(value, lower::resultType(builder.getContext(), value));
}

Value LowerContext::tensor(StringRef name) { return toTensor(attr(name)); }
Value LowerContext::optionalTensor(StringRef name) { return toTensor(attr(name)); }
Operand LowerContext::operand(StringRef name) { return toOperand(attr(name)); }

SmallVector<Value> LowerContext::tensors(StringRef name) {
  SmallVector<Value> values;
  for (Attribute entry : cast<ArrayAttr>(attr(name)))
    values.push_back(toTensor(entry));
  return values;
}

Number LowerContext::number(StringRef name) {
  Operand value = operand(name);
  if (value.isTensor()) {
    (void)refuse("argument `" + name + "` is a tensor where a number is expected");
    return {};
  }
  return value.number;
}

double LowerContext::real(StringRef name) {
  Number value = number(name);
  if (!value.isStatic())
    (void)refuse("argument `" + name + "` is computed at run time; it must be known here");
  return value.asDouble();
}

std::optional<double> LowerContext::optionalReal(StringRef name) {
  return isNone(name) ? std::nullopt : std::optional(real(name));
}

bool LowerContext::flag(StringRef name) { return !isNone(name) && real(name) != 0; }

StringRef LowerContext::string(StringRef name) {
  auto text = dyn_cast_or_null<StringAttr>(attr(name));
  return text ? text.getValue() : StringRef();
}

Size LowerContext::toSize(StringRef name, Attribute attr) {
  Number value = toOperand(attr).number;
  if (value.kind == Number::Float)
    (void)refuse("argument `" + name + "` is not an integer");
  return value.isStatic() ? Size(value.integer) : Size(value.dynamic);
}

int64_t LowerContext::toLiteral(StringRef name, Size size) {
  if (size.isStatic())
    return size.literal;
  (void)refuse("argument `" + name + "` is computed at run time; it must be known here");
  return 1;
}

int64_t LowerContext::integer(StringRef name) { return toLiteral(name, size(name)); }
Size LowerContext::size(StringRef name) { return toSize(name, attr(name)); }

Sizes LowerContext::sizeList(StringRef name) {
  Sizes result;
  Attribute value = attr(name);
  if (!value || isa<UnitAttr>(value))
    return result;
  if (auto list = dyn_cast<ArrayAttr>(value)) {
    for (Attribute entry : list)
      result.push_back(toSize(name, entry));
    return result;
  }
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value)) {
    llvm::append_range(result, list.asArrayRef());
    return result;
  }
  result.push_back(toSize(name, value));
  return result;
}

SmallVector<int64_t> LowerContext::integers(StringRef name) {
  SmallVector<int64_t> result;
  for (const Size &entry : sizeList(name))
    result.push_back(toLiteral(name, entry));
  return result;
}

SmallVector<int64_t> LowerContext::integers(StringRef name, size_t count, int64_t fill) {
  SmallVector<int64_t> result = integers(name);
  if (result.size() <= 1)
    return SmallVector<int64_t>(count, result.empty() ? fill : result.front());
  if (result.size() != count)
    (void)refuse("argument `" + name + "` has " + Twine(result.size()) + " entries, not " + Twine(count));
  result.resize(count, fill);
  return result;
}

SmallVector<double> LowerContext::reals(StringRef name) {
  SmallVector<double> result;
  if (auto list = dyn_cast_or_null<ArrayAttr>(attr(name)))
    for (Attribute entry : list) {
      Number value = toOperand(entry).number;
      if (!value.isStatic())
        (void)refuse("argument `" + name + "` is computed at run time; it must be known here");
      result.push_back(value.asDouble());
    }
  return result;
}

int64_t LowerContext::normalizeAxis(int64_t axis, int64_t rank) {
  int64_t range = std::max<int64_t>(rank, 1);
  if (axis < -range || axis >= range) {
    (void)refuse("dimension " + Twine(axis) + " is out of range for rank " + Twine(rank));
    return 0;
  }
  return axis < 0 ? axis + range : axis;
}

int64_t LowerContext::axis(StringRef name, int64_t rank) { return normalizeAxis(integer(name), rank); }

SmallVector<int64_t> LowerContext::axes(StringRef name, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : integers(name))
    result.push_back(normalizeAxis(axis, rank));
  if (rank == 0)
    return {};
  if (result.empty())
    return axisRange(0, rank);
  llvm::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

//===------------------------------------------------------------------------------------------===//
// Results
//===------------------------------------------------------------------------------------------===//

RankedTensorType LowerContext::resultType(size_t result) {
  return cast<RankedTensorType>(op->getResult(result).getType());
}

LogicalResult LowerContext::refuse(const Twine &why) {
  if (reason.empty())
    reason = why.str();
  return failure();
}

LogicalResult LowerContext::refuseAsBug(const Twine &what) { return refuse(kBugPrefix + what); }

/// The value with exactly the type `wanted`, or null where that would be another value. Sizes that
/// only one side knows are taken over.
Value LowerContext::conform(Value value, Type wanted, size_t result) {
  if (value.getType() == wanted)
    return value;
  auto have = dyn_cast<RankedTensorType>(value.getType());
  auto want = dyn_cast<RankedTensorType>(wanted);
  if (auto complex = want ? dyn_cast<ComplexType>(want.getElementType()) : ComplexType();
      complex && complex.getElementType().isF16()) {
    (void)refuse("complex32 is not supported");
    return {};
  }
  if (!have || !want || have.getElementType() != want.getElementType() || failed(verifyCompatibleShape(have, want))) {
    std::string text;
    llvm::raw_string_ostream(text) << "the lowering of " << op.getTarget() << " made " << value.getType()
                                   << " of result " << result << ", where the program says " << wanted;
    (void)refuseAsBug(text);
    return {};
  }
  if (value.getDefiningOp() && value.use_empty()) { // nobody but us knows it yet
    value.setType(want);
    return value;
  }
  return reshapeTo(value, want);
}

LogicalResult LowerContext::replace(ArrayRef<Value> values) {
  if (isRefused())
    return failure();
  if (values.size() != numResults())
    return refuseAsBug("the lowering of " + op.getTarget() + " made " + Twine(values.size()) + " results of " +
                       Twine(numResults()));
  results.clear();
  for (auto [i, value] : llvm::enumerate(values)) {
    if (!value && isUsed(i))
      return refuse("result " + Twine(i) + " is used, and only result 0 can be computed");
    results.push_back(value ? conform(value, op->getResult(i).getType(), i) : Value());
    if (value && !results.back())
      return failure();
  }
  return success();
}

} // namespace ingot::lower
