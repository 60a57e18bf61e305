#include "pt2/ProgramReader.h"

using namespace ingot;
using namespace ingot::pt2;

namespace {

/// How one member of the InputSpec or OutputSpec union is laid out.
template <typename Kind> struct SpecRow {
  std::string_view member;
  Kind kind;
  /// `arg` is a whole Argument, or just `{"name": n}` of a tensor.
  bool isArgument;
  std::string_view targetMember; ///< empty when there is none
};

constexpr SpecRow<InputKind> inputRows[] = {
    {"user_input", InputKind::UserInput, true, ""},
    {"parameter", InputKind::Parameter, false, "parameter_name"},
    {"buffer", InputKind::Buffer, false, "buffer_name"},
    {"tensor_constant", InputKind::TensorConstant, false, "tensor_constant_name"},
    {"custom_obj", InputKind::CustomObj, false, "custom_obj_name"},
    {"token", InputKind::Token, false, ""},
};

constexpr SpecRow<OutputKind> outputRows[] = {
    {"user_output", OutputKind::UserOutput, true, ""},
    {"loss_output", OutputKind::Loss, false, ""},
    {"buffer_mutation", OutputKind::BufferMutation, false, "buffer_name"},
    {"parameter_mutation", OutputKind::ParameterMutation, false, "parameter_name"},
    {"user_input_mutation", OutputKind::UserInputMutation, false, "user_input_name"},
    {"gradient_to_parameter", OutputKind::GradientToParameter, false, "parameter_name"},
    {"gradient_to_user_input", OutputKind::GradientToUserInput, false, "user_input_name"},
    {"token", OutputKind::Token, false, ""},
};

template <typename Spec, typename Kind>
Result<Spec> readRow(JsonRef body, const SpecRow<Kind> &row, const JsonReadOptions &options) {
  Spec spec;
  spec.kind = row.kind;
  INGOT_TRY(JsonRef arg, body.member("arg"));
  if (row.isArgument) {
    INGOT_TRY(spec.value, readArgument(arg, options));
  } else if (row.member == "custom_obj") {
    INGOT_TRY(CustomObjRef object, readCustomObj(arg));
    spec.value = Argument::makeCustomObj(std::move(object));
  } else {
    INGOT_TRY(std::string name, readName(arg));
    spec.value = Argument::makeTensor(std::move(name));
  }
  if (!row.targetMember.empty()) {
    INGOT_TRY(JsonRef target, body.member(row.targetMember));
    INGOT_TRY(spec.target, target.string());
  }
  return spec;
}

Result<InputSpec> readConstantInput(JsonRef body, const JsonReadOptions &options) {
  InputSpec spec;
  spec.kind = InputKind::ConstantInput;
  INGOT_TRY(spec.target, readName(body));
  INGOT_TRY(JsonRef value, body.member("value"));
  INGOT_TRY(spec.value, readArgument(value, options));
  return spec;
}

Result<InputSpec> readInputSpec(JsonRef json, const JsonReadOptions &options) {
  INGOT_TRY(auto only, json.onlyMember());
  auto [member, body] = only;
  if (member == "constant_input")
    return readConstantInput(body, options);
  for (const SpecRow<InputKind> &row : inputRows) {
    if (row.member != member)
      continue;
    INGOT_TRY(InputSpec spec, (readRow<InputSpec>(body, row, options)));
    INGOT_TRY(auto persistent, body.optionalMember("persistent"));
    if (persistent) {
      INGOT_TRY(spec.persistent, persistent->boolean());
    }
    return spec;
  }
  return json.unsupported("is the unknown input kind '" + std::string(member) + "'");
}

Result<OutputSpec> readOutputSpec(JsonRef json, const JsonReadOptions &options) {
  INGOT_TRY(auto only, json.onlyMember());
  auto [member, body] = only;
  for (const SpecRow<OutputKind> &row : outputRows)
    if (row.member == member)
      return readRow<OutputSpec>(body, row, options);
  return json.unsupported("is the unknown output kind '" + std::string(member) + "'");
}

} // namespace

Result<Signature> pt2::readSignature(JsonRef json, const JsonReadOptions &options) {
  Signature signature;
  INGOT_TRY(JsonRef inputs, json.member("input_specs"));
  INGOT_TRY(signature.inputs, inputs.list([&](JsonRef item) { return readInputSpec(item, options); }));
  INGOT_TRY(JsonRef outputs, json.member("output_specs"));
  INGOT_TRY(signature.outputs, outputs.list([&](JsonRef item) { return readOutputSpec(item, options); }));
  return signature;
}
