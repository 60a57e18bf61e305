#include "passes/plan/CarrierStep.h"

#include "base/Json.h"
#include "dialect/Conventions.h"
#include "dialect/Types.h"

#include <cmath>

using namespace mlir;
using nlohmann::json;

namespace ingot {
namespace {

Result<json> argumentJson(mlir::Attribute attribute);

Result<json> listJson(ArrayAttr list) {
  json items = json::array();
  for (mlir::Attribute entry : list) {
    INGOT_TRY(json item, argumentJson(entry));
    items.push_back(std::move(item));
  }
  return items;
}

json numberJson(double number) {
  if (std::isfinite(number))
    return number;
  return {{"float", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}};
}

json integerJson(IntegerAttr integer) {
  if (integer.getType().isUnsignedInteger())
    return integer.getValue().getZExtValue();
  return integer.getValue().getSExtValue();
}

Result<json> argumentJson(mlir::Attribute attribute) {
  if (isa<UnitAttr>(attribute))
    return json(nullptr);
  if (auto reference = dyn_cast<ValueRefAttr>(attribute))
    return json{{"value", reference.getIndex()}};
  if (auto boolean = dyn_cast<BoolAttr>(attribute))
    return json(boolean.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attribute); integer && integer.getValue().getBitWidth() <= 64)
    return integerJson(integer);
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return numberJson(number.getValueAsDouble());
  if (auto text = dyn_cast<StringAttr>(attribute))
    return json(text.str());
  if (auto list = dyn_cast<ArrayAttr>(attribute))
    return listJson(list);
  if (auto tagged = dyn_cast<TaggedAttr>(attribute))
    return json{{tagged.getKind().str(), tagged.getValue().str()}};
  if (auto type = dyn_cast<TypeAttr>(attribute))
    if (std::optional<DType> dtype = dtypeOfType(type.getValue()))
      return json{{"dtype", dtypeName(*dtype)}};
  return unsupportedError("an argument is of a kind that PyTorch's dispatcher cannot be given");
}

std::string text(const json &value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

} // namespace

Result<Attributes> carrierAttributes(AtenOp op) {
  json arguments = json::object();
  for (NamedAttribute argument : op.getArgs()) {
    Result<json> value = argumentJson(argument.getValue());
    if (!value)
      return std::move(value.error()).note("argument '" + argument.getName().str() + "' of " + op.getTarget().str());
    arguments[argument.getName().str()] = *std::move(value);
  }
  Attributes attributes = {{"target", op.getTarget().str()}, {"args", text(arguments)}};
  if (auto returns = op->getAttrOfType<ArrayAttr>(attr::kReturns)) {
    INGOT_TRY(json layout, listJson(returns));
    attributes.emplace("returns", text(layout));
  }
  if (auto writes = op->getAttrOfType<ArrayAttr>(attr::kWrites)) {
    INGOT_TRY(json names, listJson(writes));
    attributes.emplace("writes", text(names));
  }
  if (auto into = op->getAttrOfType<IntegerAttr>(attr::kInto))
    attributes.emplace("into", static_cast<int64_t>(into.getInt()));
  return attributes;
}

} // namespace ingot
