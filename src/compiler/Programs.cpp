#include "compiler/Programs.h"

#include "asset/Reader.h"
#include "asset/Writer.h"
#include "base/Json.h"
#include "compiler/Documents.h"
#include "compiler/Guarded.h"
#include "compiler/Options.h"
#include "pipeline/Pipeline.h"

namespace ingot {

struct CompilerProgram {
  Converted converted;
  asset::Asset source;                             ///< what the weights lie in, if it was opened
  std::vector<std::shared_ptr<const void>> memory; ///< of constants that a document holds
};

namespace {

using nlohmann::json;

Result<std::vector<std::string>> names(const json &role, const char *key) {
  std::vector<std::string> list;
  if (!role.contains(key) || role[key].is_null())
    return list;
  if (!role[key].is_array())
    return usageError(std::string(key) + " must be a list of names");
  for (const json &name : role[key]) {
    if (!name.is_string())
      return usageError(std::string(key) + " must be a list of names");
    list.push_back(name.get<std::string>());
  }
  return list;
}

std::string text(const json &role, const char *key) {
  return role.contains(key) && role[key].is_string() ? role[key].get<std::string>() : "";
}

Status addPart(Parts &parts, pt2::Program &program, const char *roleJson, const CompilerOptions &options) {
  INGOT_TRY(json role, parseJson(roleJson));
  if (!role.is_object())
    return usageError("the role of a program must be a JSON object");
  if (role.contains("body_of")) {
    parts.bodies.push_back({&program, text(role, "body_of"), text(role, "symbol"), text(role, "weight_prefix"),
                            text(role, "declaration"), text(role, "metal_kernel")});
    return {};
  }
  if (options.rewrite)
    INGOT_CHECK(pt2::rewriteProgram(program, *options.rewrite));
  EntryPart entry{&program, text(role, "entry")};
  INGOT_TRY(entry.names.inputs, names(role, "input_names"));
  INGOT_TRY(entry.names.outputs, names(role, "output_names"));
  INGOT_TRY(entry.names.states, names(role, "state_names"));
  entry.hasPlaceholderNames = role.contains("placeholder_names") && role["placeholder_names"] == true;
  parts.entries.push_back(std::move(entry));
  return {};
}

Status convertParts(std::span<const CompilerPart> given, std::span<const ingot_lowering> lowerings,
                    const char *optionsJson, CompilerProgram **out) {
  INGOT_TRY(CompilerOptions options, parseOptions(optionsJson));
  options.pipeline.lowerings.assign(lowerings.begin(), lowerings.end());
  Plugins plugins;
  INGOT_CHECK(loadPlugins(options, plugins));
  std::vector<pt2::Program> programs;
  programs.reserve(given.size()); // parts point to them
  Parts parts;
  for (const CompilerPart &part : given) {
    INGOT_TRY(pt2::Program program,
              readProgramText({part.programJson, part.programBytes}, memoryWeights({part.weights, part.weightCount}),
                              options.pipeline.schemas));
    programs.push_back(std::move(program));
    INGOT_CHECK(addPart(parts, programs.back(), part.roleJson, options));
  }
  if (parts.entries.empty())
    return usageError("there is no entry point to convert");
  INGOT_TRY(Converted converted, convertProgram(parts, options.pipeline));
  *out = makeProgram(std::move(converted));
  for (const pt2::Program &program : programs)
    (*out)->memory.push_back(program.memory);
  return {};
}

Status openProgram(const char *path, CompilerProgram **out) {
  auto program = std::make_unique<CompilerProgram>();
  INGOT_TRY(program->source, asset::readAsset(path));
  const asset::Asset &source = program->source;
  asset::Content &content = program->converted.content;
  content.manifest = source.manifest;
  content.program = source.programBytes();
  for (const SafeTensor &tensor : source.weights.tensors)
    content.weights.push_back({tensor.name, tensor.dtype, tensor.shape, {}, tensor.data.data()});
  *out = program.release();
  return {};
}

Status save(const CompilerProgram &program, const char *path, bool overwrite, const char *metadataJson) {
  asset::Content content = program.converted.content;
  if (metadataJson && *metadataJson) {
    INGOT_TRY(json metadata, parseJson(metadataJson));
    if (!metadata.is_object())
      return usageError("metadata must be an object of strings");
    for (const auto &[key, value] : metadata.items()) {
      if (!value.is_string())
        return usageError("the metadata '" + key + "' must be a string");
      content.manifest.metadata[key] = value.get<std::string>();
    }
  }
  return asset::writeAsset(path, content, {overwrite});
}

Status strip(CompilerProgram &program) {
  INGOT_TRY(std::string bytecode, withoutLocations(program.converted.content.program));
  program.converted.bytecode = std::move(bytecode);
  program.converted.content.program = std::as_bytes(std::span(program.converted.bytecode));
  return {};
}

} // namespace

CompilerProgram *makeProgram(Converted converted) {
  auto program = std::make_unique<CompilerProgram>();
  program->converted = std::move(converted);
  // The string may have moved with its owner.
  program->converted.content.program = std::as_bytes(std::span(program->converted.bytecode));
  return program.release();
}

std::vector<pt2::MemoryWeight> memoryWeights(std::span<const CompilerWeight> weights) {
  std::vector<pt2::MemoryWeight> list;
  for (const CompilerWeight &weight : weights) {
    pt2::MemoryWeight out;
    out.name = weight.name;
    out.isConstant = weight.isConstant;
    out.isParameter = weight.isParameter;
    out.dtype = static_cast<DType>(weight.dtype);
    out.sizes.assign(weight.sizes, weight.sizes + weight.rank);
    out.strides.assign(weight.strides, weight.strides + weight.rank);
    out.storageOffset = weight.storageOffset;
    out.storage = {static_cast<const std::byte *>(weight.storage), weight.storageBytes};
    list.push_back(std::move(out));
  }
  return list;
}

const CompilerProgramApi kProgramApi = {
    [](const CompilerPart *parts, size_t count, const ingot_lowering *lowerings, size_t loweringCount,
       const char *options, CompilerProgram **program, CompilerError *error) {
      return guarded(error, [&] { return convertParts({parts, count}, {lowerings, loweringCount}, options, program); });
    },
    [](const char *path, CompilerProgram **program, CompilerError *error) {
      return guarded(error, [&] { return openProgram(path, program); });
    },
    [](const CompilerProgram *program, const char *function, bool withLocations, char **out, CompilerError *error) {
      return guarded(error, [&]() -> Status {
        INGOT_TRY(std::string shown, programText(program->converted.content.program, function, withLocations));
        *out = strdup(shown.c_str());
        return {};
      });
    },
    [](const CompilerProgram *program, char **out, CompilerError *error) {
      return guarded(error, [&]() -> Status {
        INGOT_TRY(std::string document, programDocument(program->converted.content.program));
        *out = strdup(document.c_str());
        return {};
      });
    },
    [](const CompilerProgram *program, char **out, CompilerError *error) {
      return guarded(error, [&]() -> Status {
        *out = strdup(asset::manifestText(program->converted.content.manifest).c_str());
        return {};
      });
    },
    [](CompilerProgram *program, CompilerError *error) { return guarded(error, [&] { return strip(*program); }); },
    [](const CompilerProgram *program, const char *path, bool overwrite, const char *metadata, CompilerError *error) {
      return guarded(error, [&] { return save(*program, path, overwrite, metadata); });
    },
    [](CompilerProgram *program) { delete program; },
};

} // namespace ingot
