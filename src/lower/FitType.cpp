#include "lower/FitType.h"

#include "dialect/ControlOps.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace ingot::lower {

std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Narrower types that are taken for the declared one, and widened.
static bool isAccepted(Type have, Type want) {
  if (want.isSignlessInteger(64))
    return have.isSignlessInteger(32) || have.isUnsignedInteger(32);
  if (want.isF64())
    return have.isF32();
  auto complex = dyn_cast<ComplexType>(have), wanted = dyn_cast<ComplexType>(want);
  return complex && wanted && wanted.getElementType().isF32() && complex.getElementType().isF16();
}

/// What differs, as "rank 2 vs 3"; empty when nothing does.
static std::string difference(RankedTensorType have, RankedTensorType want) {
  if (have.getRank() != want.getRank())
    return "rank " + std::to_string(have.getRank()) + " vs " + std::to_string(want.getRank());
  if (have.getElementType() != want.getElementType() && !isAccepted(have.getElementType(), want.getElementType()))
    return "dtype " + typeText(have.getElementType()) + " vs " + typeText(want.getElementType());
  for (int64_t i = 0; i < want.getRank(); ++i)
    if (!have.isDynamicDim(i) && !want.isDynamicDim(i) && have.getDimSize(i) != want.getDimSize(i))
      return "dim[" + std::to_string(i) + "] " + std::to_string(have.getDimSize(i)) + " vs " +
             std::to_string(want.getDimSize(i));
  return "";
}

/// A number of that type, or the only element of a tensor.
static Value fitNumber(Emitter &emit, Value value, Type want) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || elementCount(tensor.getShape()) != 1)
    return value.getType() == want ? value : Value();
  return emit.create<ItemOp>(want, emit.cast(value, want)).getResult();
}

Value fitType(Emitter &emit, Value value, Type declared, std::string &problem) {
  auto wanted = dyn_cast<RankedTensorType>(declared);
  if (!wanted) {
    Value number = fitNumber(emit, value, declared);
    if (!number)
      problem = "dtype " + typeText(value.getType()) + " vs " + typeText(declared);
    return number;
  }
  if (!isa<RankedTensorType>(value.getType()))
    value = emit.create<FromScalarOp>(RankedTensorType::get({}, value.getType()), value);
  problem = difference(cast<RankedTensorType>(value.getType()), wanted);
  return problem.empty() ? emit.cast(value, wanted.getElementType()) : Value();
}

Result<Value> fitExactly(Emitter &emit, Value value, Type declared, const std::string &place) {
  if (!value)
    return usageError(place + " is no value");
  std::string problem, given = typeText(value.getType());
  Value fitting = fitType(emit, value, declared, problem);
  if (!fitting)
    return usageError(place + ": " + problem + " (given " + given + ", declared " + typeText(declared) + ")");
  if (fitting.getType() == declared)
    return fitting;
  return emit.reshapeTo(fitting, cast<RankedTensorType>(declared));
}

} // namespace ingot::lower
