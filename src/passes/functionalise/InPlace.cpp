#include "passes/functionalise/InPlace.h"

#include "import/Carrier.h"
#include "lower/Promote.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {

/// In-place nodes whose pure form has another name; all others only lose their trailing underscore.
static const llvm::StringMap<StringRef> &renamed() {
  static const llvm::StringMap<StringRef> table = {
      {"aten::zero_", "aten::zeros_like"},
      {"aten::pow_.Tensor", "aten::pow.Tensor_Tensor"},
      {"aten::pow_.Scalar", "aten::pow.Tensor_Scalar"},
      {"aten::floor_divide_.Tensor", "aten::floor_divide"},
      {"aten::ldexp_", "aten::ldexp.Tensor"},
      {"aten::float_power_.Tensor", "aten::float_power.Tensor_Tensor"},
      {"aten::float_power_.Scalar", "aten::float_power.Tensor_Scalar"},
      {"aten::_index_put_impl_", "aten::index_put"},
      {"aten::normal_", "aten::normal_functional"},
      {"aten::bernoulli_.float", "aten::bernoulli.p"},
      {"aten::__iadd__.Tensor", "aten::add.Tensor"},
      {"aten::__iadd__.Scalar", "aten::add.Scalar"},
      {"aten::__isub__.Tensor", "aten::sub.Tensor"},
      {"aten::__isub__.Scalar", "aten::sub.Scalar"},
      {"aten::__imul__.Tensor", "aten::mul.Tensor"},
      {"aten::__imul__.Scalar", "aten::mul.Scalar"},
      {"aten::__idiv__.Tensor", "aten::div.Tensor"},
      {"aten::__idiv__.Scalar", "aten::div.Scalar"},
      {"aten::__iand__.Tensor", "aten::bitwise_and.Tensor"},
      {"aten::__iand__.Scalar", "aten::bitwise_and.Scalar"},
      {"aten::__ior__.Tensor", "aten::bitwise_or.Tensor"},
      {"aten::__ior__.Scalar", "aten::bitwise_or.Scalar"},
      {"aten::__ixor__.Tensor", "aten::bitwise_xor.Tensor"},
      {"aten::__ixor__.Scalar", "aten::bitwise_xor.Scalar"},
      {"aten::__ilshift__.Tensor", "aten::__lshift__.Tensor"},
      {"aten::__ilshift__.Scalar", "aten::__lshift__.Scalar"},
      {"aten::__irshift__.Tensor", "aten::__rshift__.Tensor"},
      {"aten::__irshift__.Scalar", "aten::__rshift__.Scalar"},
  };
  return table;
}

static std::string joined(StringRef name, StringRef overload) {
  return overload.empty() ? name.str() : (name + "." + overload).str();
}

std::vector<std::string> pureNames(StringRef target) {
  if (auto it = renamed().find(target); it != renamed().end())
    return {it->second.str()};
  TargetName parts(target);
  if (StringRef name = parts.name; name.consume_back("_"))
    return {joined(name, parts.overload)};
  StringRef overload = parts.overload;
  if (overload.consume_back("_out"))
    return {joined(parts.name, overload)};
  if (overload == "out")
    return {parts.name.str(), joined(parts.name, "Tensor"), joined(parts.name, "self")};
  return {};
}

/// Every argument of the pure form is one of the writing node's; the first may have another name (`input`, `self`).
static bool takesArgumentsOf(const pt2::OpSchema &pure, const pt2::OpSchema &writing) {
  for (size_t i = 1; i < pure.arguments.size(); ++i) {
    const pt2::SchemaArgument &argument = pure.arguments[i];
    if (!argument.defaultValue && !writing.findArgument(argument.name))
      return false;
  }
  return !pure.isMutable();
}

bool replacesMemory(StringRef target) {
  StringRef name = TargetName(target).name;
  return name == "aten::set_" || name == "aten::set_data";
}

std::optional<PureForm> pureForm(AtenOp op, const pt2::OpSchema &schema) {
  PureForm form;
  if (replacesMemory(op.getTarget()))
    return std::nullopt;
  for (const pt2::SchemaArgument &argument : schema.arguments) {
    if (!argument.alias || !argument.alias->isWrite)
      continue;
    if (!argument.type.isTensor())
      return std::nullopt;
    form.written.push_back(argument.name);
  }
  for (const std::string &name : pureNames(op.getTarget())) {
    const pt2::OpSchema *pure = pt2::findSchema(name);
    if (!pure || pure->returns.size() != form.written.size() || !takesArgumentsOf(*pure, schema))
      continue;
    form.schema = pure;
    return form;
  }
  return std::nullopt;
}

std::string viewOfMetadataWrite(StringRef target) {
  static const llvm::StringMap<StringRef> names = {
      {"aten::detach_", "aten::detach"},           {"aten::squeeze_", "aten::squeeze"},
      {"aten::squeeze_.dim", "aten::squeeze.dim"}, {"aten::squeeze_.dims", "aten::squeeze.dims"},
      {"aten::unsqueeze_", "aten::unsqueeze"},     {"aten::t_", "aten::t"},
      {"aten::transpose_", "aten::transpose.int"}, {"aten::swapaxes_", "aten::swapaxes"},
      {"aten::swapdims_", "aten::swapdims"},       {"aten::as_strided_", "aten::as_strided"},
      {"aten::resize_", "aten::resize"},           {"aten::resize_as_", "aten::resize_as"},
  };
  return names.lookup(target).str();
}

static bool givesBool(StringRef name) {
  static const llvm::StringSet<> names = {"eq_",
                                          "ne_",
                                          "lt_",
                                          "le_",
                                          "gt_",
                                          "ge_",
                                          "not_equal_",
                                          "less_",
                                          "greater_",
                                          "less_equal_",
                                          "greater_equal_",
                                          "logical_and_",
                                          "logical_or_",
                                          "logical_xor_",
                                          "logical_not_"};
  return names.contains(name);
}

static bool promotes(StringRef name) {
  static const llvm::StringSet<> names = {
      "add_",         "sub_",          "subtract_",  "mul_",         "multiply_",   "div_",         "divide_",
      "true_divide_", "floor_divide_", "remainder_", "fmod_",        "pow_",        "float_power_", "atan2_",
      "addcmul_",     "addcdiv_",      "hypot_",     "bitwise_and_", "bitwise_or_", "bitwise_xor_", "__iadd__",
      "__isub__",     "__imul__",      "__idiv__",   "__iand__",     "__ior__",     "__ixor__",     "clamp_",
      "gcd_",         "lcm_",          "copysign_",  "clamp_min_",   "clamp_max_",  "rsub_"};
  return names.contains(name);
}

Type pureElementType(AtenOp op, RankedTensorType written) {
  StringRef name = TargetName(op.getTarget()).name.split("::").second;
  if (givesBool(name))
    return IntegerType::get(op.getContext(), 1);
  // Sums of integers are int64, and become the tensor's own type when they are written.
  bool isRunning = name == "cumsum_" || name == "cumprod_";
  if (isRunning && isa<IntegerType>(written.getElementType()) && !isa_and_present<TypeAttr>(op.getArgs().get("dtype")))
    return IntegerType::get(op.getContext(), 64);
  if (!promotes(name))
    return written.getElementType();
  SmallVector<lower::Operand> operands;
  for (Value value : op.getValues()) {
    if (isa<RankedTensorType>(value.getType()))
      operands.push_back(lower::Operand(value));
    else
      operands.push_back(lower::Operand(lower::Number::of(value)));
  }
  Type promoted = lower::resultType(op.getContext(), operands);
  return promoted ? promoted : written.getElementType();
}

} // namespace ingot
