#include "pt2/ProgramReader.h"

#include <algorithm>

using namespace ingot;
using namespace ingot::pt2;
using nlohmann::json;

namespace {

Result<std::vector<std::string>> readStrings(JsonRef json) {
  return json.list([](JsonRef item) { return item.string(); });
}

Result<std::vector<std::string>> optionalStrings(JsonRef json, std::string_view member) {
  INGOT_TRY(auto list, json.optionalMember(member));
  return list ? readStrings(*list) : std::vector<std::string>();
}

Status readVersion(JsonRef json, Program &program) {
  INGOT_TRY(JsonRef version, json.member("schema_version"));
  INGOT_TRY(JsonRef major, version.member("major"));
  INGOT_TRY(JsonRef minor, version.member("minor"));
  INGOT_TRY(program.schemaVersion.major, major.integer());
  INGOT_TRY(program.schemaVersion.minor, minor.integer());
  INGOT_TRY(auto torchVersion, json.optionalMember("torch_version"));
  if (torchVersion) {
    INGOT_TRY(program.torchVersion, torchVersion->string());
  }
  if (program.schemaVersion.major == 8)
    return {};
  std::string text = std::to_string(program.schemaVersion.major) + "." + std::to_string(program.schemaVersion.minor);
  return unsupportedError("the program uses export schema " + text + ", only 8.x can be read")
      .note(program.schemaVersion.major > 8
                ? "it was written by a newer torch than this Ingot knows; a newer Ingot can "
                  "read it, or export it again with torch 2.13"
                : "export it again with torch 2.9 or newer");
}

Status readRanges(JsonRef json, Program &program) {
  INGOT_TRY(auto ranges, json.optionalMember("range_constraints"));
  if (!ranges)
    return {};
  return ranges->forEachMember([&](const std::string &key, JsonRef value) -> Status {
    RangeConstraint range;
    INGOT_TRY(auto min, value.optionalMember("min_val"));
    INGOT_TRY(auto max, value.optionalMember("max_val"));
    // Python's bounds may exceed 64 bits; sizes cannot, so clamping loses nothing.
    if (min) {
      INGOT_TRY(range.min, min->clampedInteger());
    }
    if (max) {
      INGOT_TRY(range.max, max->clampedInteger());
    }
    program.rangeConstraints.emplace(key, range);
    return {};
  });
}

Status readOpset(JsonRef json, Program &program) {
  INGOT_TRY(auto opset, json.optionalMember("opset_version"));
  if (!opset)
    return {};
  return opset->forEachMember([&](const std::string &key, JsonRef value) -> Status {
    INGOT_TRY(program.opsetVersion[key], value.integer());
    return {};
  });
}

Status readNamedTuples(JsonRef module, Program &program) {
  INGOT_TRY(auto table, module.optionalMember("treespec_namedtuple_fields"));
  if (!table)
    return {};
  return table->forEachMember([&](const std::string &type, JsonRef value) -> Status {
    INGOT_TRY(JsonRef names, value.member("field_names"));
    INGOT_TRY(program.namedTupleFields[type], readStrings(names));
    return {};
  });
}

Status readModuleMetadata(JsonRef module, Program &program) {
  INGOT_TRY(auto table, module.optionalMember("metadata"));
  if (!table)
    return {};
  return table->forEachMember([&](const std::string &key, JsonRef value) -> Status {
    if (value.isString())
      program.metadata.emplace(key, value.json().get_ref<const std::string &>());
    return {};
  });
}

Result<TreeSpec> readSpecMember(JsonRef signature, std::string_view member, std::string &text, const Program &program) {
  INGOT_TRY(JsonRef spec, signature.member(member));
  INGOT_TRY(text, spec.string());
  Result<TreeSpec> tree = readTreeSpec(text, program.namedTupleFields);
  if (!tree)
    return std::move(tree.error()).note("in " + spec.path());
  return tree;
}

Result<ModuleCallSignature> readModuleSignature(JsonRef json, const Program &program, const JsonReadOptions &options) {
  ModuleCallSignature signature;
  auto readOne = [&](JsonRef item) { return readArgument(item, options); };
  INGOT_TRY(JsonRef inputs, json.member("inputs"));
  INGOT_TRY(signature.inputs, inputs.list(readOne));
  INGOT_TRY(JsonRef outputs, json.member("outputs"));
  INGOT_TRY(signature.outputs, outputs.list(readOne));
  INGOT_TRY(signature.inSpec, readSpecMember(json, "in_spec", signature.inSpecText, program));
  INGOT_TRY(signature.outSpec, readSpecMember(json, "out_spec", signature.outSpecText, program));
  INGOT_TRY(auto names, json.optionalMember("forward_arg_names"));
  if (names) {
    INGOT_TRY(signature.forwardArgNames, readStrings(*names));
  }
  return signature;
}

Result<ModuleCall> readModuleCall(JsonRef json, const Program &program, const JsonReadOptions &options) {
  ModuleCall call;
  INGOT_TRY(JsonRef path, json.member("fqn"));
  INGOT_TRY(call.path, path.string());
  INGOT_TRY(auto signature, json.optionalMember("signature"));
  if (signature) {
    INGOT_TRY(call.signature, readModuleSignature(*signature, program, options));
  }
  return call;
}

Status readModuleCalls(JsonRef module, Program &program, const JsonReadOptions &options) {
  INGOT_TRY(JsonRef calls, module.member("module_call_graph"));
  auto readOne = [&](JsonRef item) { return readModuleCall(item, program, options); };
  INGOT_TRY(program.moduleCalls, calls.list(readOne));
  if (program.moduleCalls.empty() || !program.moduleCalls.front().signature)
    return calls.corrupt("should begin with the root module and its signature");
  return {};
}

} // namespace

Status pt2::checkTrees(const Program &program) {
  auto isUserSlot = [](const InputSpec &spec) {
    return spec.kind == InputKind::UserInput || spec.kind == InputKind::ConstantInput;
  };
  auto isUserResult = [](const OutputSpec &spec) {
    return spec.kind == OutputKind::UserOutput || spec.kind == OutputKind::Loss;
  };
  size_t slots = std::ranges::count_if(program.signature.inputs, isUserSlot);
  size_t results = std::ranges::count_if(program.signature.outputs, isUserResult);
  const ModuleCallSignature &root = program.rootSignature();
  if (root.inSpec.leafCount() != slots)
    return corruptError("the input tree has " + std::to_string(root.inSpec.leafCount()) +
                        " leaves but the signature has " + std::to_string(slots) + " inputs");
  if (root.outSpec.leafCount() != results)
    return corruptError("the output tree has " + std::to_string(root.outSpec.leafCount()) +
                        " leaves but the signature has " + std::to_string(results) + " outputs");
  return {};
}

Dialect pt2::dialectOf(const std::vector<std::string> &verifiers) {
  auto has = [&](std::string_view name) { return std::ranges::find(verifiers, name) != verifiers.end(); };
  if (has("TRAINING"))
    return Dialect::Training;
  return has("ATEN") ? Dialect::Aten : Dialect::Other;
}

Result<Program> pt2::readProgramJson(std::string_view text, const JsonReadOptions &options) {
  INGOT_TRY(json document, parseJson(text));
  JsonRef root(document);
  Program program;
  INGOT_CHECK(readVersion(root, program));
  INGOT_CHECK(readOpset(root, program));
  INGOT_CHECK(readRanges(root, program));
  INGOT_TRY(program.verifiers, optionalStrings(root, "verifiers"));
  program.dialect = dialectOf(program.verifiers);
  INGOT_TRY(program.guards, optionalStrings(root, "guards_code"));

  INGOT_TRY(JsonRef module, root.member("graph_module"));
  INGOT_CHECK(readNamedTuples(module, program));
  INGOT_CHECK(readModuleMetadata(module, program));
  INGOT_TRY(JsonRef graph, module.member("graph"));
  INGOT_TRY(program.graph, readGraph(graph, options));
  INGOT_TRY(JsonRef signature, module.member("signature"));
  INGOT_TRY(program.signature, readSignature(signature, options));
  INGOT_CHECK(readModuleCalls(module, program, options));

  INGOT_CHECK(checkGraph(program.graph));
  INGOT_CHECK(checkSignature(program.graph, program.signature));
  INGOT_CHECK(checkTrees(program));
  INGOT_CHECK(removeEffectTokens(program));
  return program;
}
