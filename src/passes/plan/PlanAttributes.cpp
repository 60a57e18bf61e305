#include "passes/plan/PlanAttributes.h"

#include "dialect/CustomOps.h"
#include "dialect/Ops.h"

#include <cstring>
#include <mlir/Dialect/Arith/IR/Arith.h>

using namespace mlir;

namespace ingot {

/// Enums are stored as 32-bit integers; plans hold their keyword.
static std::optional<std::string> enumKeyword(Operation &op, StringRef name, int64_t value) {
  auto number = static_cast<uint32_t>(value);
  if (name == "activation" || name == "expand_activation")
    return stringifyActivation(static_cast<Activation>(number)).str();
  if (isa<ReduceOp>(op) && name == "kind")
    return stringifyReduceKind(static_cast<ReduceKind>(number)).str();
  if (isa<PadOp>(op) && name == "mode")
    return stringifyPadMode(static_cast<PadMode>(number)).str();
  if (isa<ResizeOp>(op) && name == "mode")
    return stringifyResizeMode(static_cast<ResizeMode>(number)).str();
  return std::nullopt;
}

static std::optional<Attribute> convert(Operation &op, StringRef name, mlir::Attribute attribute) {
  if (auto boolean = dyn_cast<BoolAttr>(attribute))
    return Attribute(boolean.getValue());
  // Predicates are stored as plain integers, so the op tells what they are.
  if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && name == "predicate")
    return Attribute(arith::stringifyCmpIPredicate(compare.getPredicate()).str());
  if (auto compare = dyn_cast<arith::CmpFOp>(op); compare && name == "predicate")
    return Attribute(arith::stringifyCmpFPredicate(compare.getPredicate()).str());
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    if (integer.getType().isInteger(32))
      if (auto keyword = enumKeyword(op, name, integer.getInt()))
        return Attribute(*keyword);
    return Attribute(static_cast<int64_t>(integer.getInt()));
  }
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return Attribute(number.getValueAsDouble());
  if (auto text = dyn_cast<StringAttr>(attribute))
    return Attribute(text.str());
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute))
    return Attribute(std::vector<int64_t>(list.asArrayRef()));
  if (auto list = dyn_cast<DenseF64ArrayAttr>(attribute))
    return Attribute(std::vector<double>(list.asArrayRef()));
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (list && llvm::all_of(list, [](mlir::Attribute entry) { return isa<StringAttr>(entry); })) {
    std::vector<std::string> texts;
    for (auto text : list.getAsRange<StringAttr>())
      texts.push_back(text.str());
    return Attribute(std::move(texts));
  }
  return std::nullopt;
}

Result<Attributes> planAttributes(Operation &op) {
  Attributes attributes;
  for (NamedAttribute named : op.getAttrs()) {
    StringRef name = named.getName().getValue();
    // How operands are grouped is already in their places; flags of arithmetic have no meaning here.
    if (name == "operandSegmentSizes" || name == "fastmath" || name == "overflowFlags")
      continue;
    // The kernel library has it compiled.
    if (name == "source" && isa<CustomOp>(op))
      continue;
    std::optional<Attribute> value = convert(op, name, named.getValue());
    if (!value)
      return corruptError("attribute `" + name.str() + "` of " + op.getName().getStringRef().str() +
                          " has a kind that plans do not have");
    attributes.emplace(name.str(), std::move(*value));
  }
  return attributes;
}

std::vector<std::byte> denseBytes(DenseElementsAttr elements) {
  std::vector<std::byte> bytes;
  // Booleans are packed in MLIR and one byte each in tensors.
  if (elements.getElementType().isInteger(1)) {
    for (bool value : elements.getValues<bool>())
      bytes.push_back(std::byte(value));
    return bytes;
  }
  ArrayRef<char> raw = elements.getRawData();
  size_t repeats = elements.isSplat() ? elements.getNumElements() : 1;
  bytes.resize(raw.size() * repeats);
  for (size_t i = 0; i < repeats && !raw.empty(); ++i)
    std::memcpy(bytes.data() + i * raw.size(), raw.data(), raw.size());
  return bytes;
}

} // namespace ingot
