// The JSON form of the manifest, both ways.
#include "asset/Format.h"
#include "base/Json.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

using namespace ingot;
using namespace ingot::asset;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

// Names may hold any bytes; a replaced character beats an exception.
std::string dump(const json &value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

/// Numbers stay numbers, expressions are strings: [1, "s0", 64].
json shapeJson(const std::vector<std::string> &shape) {
  json list = json::array();
  for (const std::string &dim : shape) {
    json number = json::parse(dim, nullptr, /*allow_exceptions=*/false);
    list.push_back(number.is_number_integer() ? std::move(number) : json(dim));
  }
  return list;
}

json portJson(const Port &port) {
  json value = {{"name", port.name}};
  if (!port.literal.empty()) {
    value["literal"] = json::parse(port.literal, nullptr, /*allow_exceptions=*/false);
  } else {
    value["dtype"] = dtypeName(port.dtype);
    value["shape"] = shapeJson(port.shape);
  }
  if (port.isScalar)
    value["scalar"] = true;
  if (!port.state.empty())
    value["state"] = port.state;
  return value;
}

json stateJson(const StatePort &state) {
  return {{"name", state.name},
          {"dtype", dtypeName(state.dtype)},
          {"shape", shapeJson(state.shape)},
          {"weight", state.weight}};
}

template <typename T, typename Convert> json listJson(const std::vector<T> &items, Convert convert) {
  json list = json::array();
  for (const T &item : items)
    list.push_back(convert(item));
  return list;
}

json entryPointJson(const EntryPoint &entry) {
  json symbols = listJson(entry.symbols, [](const Symbol &symbol) -> json {
    return {{"name", symbol.name}, {"min", symbol.min}, {"max", symbol.max}};
  });
  return {{"name", entry.name},
          {"inputs", listJson(entry.inputs, portJson)},
          {"outputs", listJson(entry.outputs, portJson)},
          {"states", listJson(entry.states, stateJson)},
          {"symbols", std::move(symbols)},
          {"in_spec", entry.inSpec},
          {"out_spec", entry.outSpec}};
}

json fallbackJson(const FallbackOp &op) {
  return {{"name", op.name}, {"count", op.count}, {"reason", op.reason}, {"sources", op.sources}};
}

json manifestJson(const Manifest &manifest) {
  json files = json::object();
  for (const auto &[name, file] : manifest.files)
    files[name] = {{"size", file.size}, {"xxh3_128", file.checksum.hex()}};
  json value = {{"format", kFormatName},
                {"version", {manifest.version.major, manifest.version.minor}},
                {"ingot", manifest.ingotVersion},
                {"torch", manifest.torchVersion},
                {"entry_points", listJson(manifest.entryPoints, entryPointJson)},
                {"weights", manifest.weights},
                {"ops", manifest.opCounts},
                {"files", std::move(files)},
                {"requirements", manifest.requirements}};
  if (!manifest.fallback.empty())
    value["fallback"] = {{"ops", listJson(manifest.fallback, fallbackJson)}};
  if (!manifest.metadata.empty())
    value["metadata"] = manifest.metadata;
  return value;
}

} // namespace

std::string asset::manifestText(const Manifest &manifest) {
  json value = manifestJson(manifest);
  value["checksum"] = hashText(dump(value, -1)).hex();
  return dump(value, 1) + "\n";
}

std::string asset::fallbackText(const std::vector<FallbackOp> &ops) { return dump(listJson(ops, fallbackJson), -1); }

std::string asset::entryPointsText(const std::vector<EntryPoint> &entryPoints) {
  return dump(listJson(entryPoints, entryPointJson), -1);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

Result<std::string> stringMember(JsonRef object, std::string_view key) {
  INGOT_TRY(JsonRef value, object.member(key));
  return value.string();
}

/// Empty when the member is missing: how optional texts are written.
Result<std::string> optionalString(JsonRef object, std::string_view key) {
  INGOT_TRY(std::optional<JsonRef> value, object.optionalMember(key));
  if (!value)
    return std::string();
  return value->string();
}

Result<DType> readDType(JsonRef object) {
  INGOT_TRY(JsonRef value, object.member("dtype"));
  INGOT_TRY(std::string name, value.string());
  if (std::optional<DType> dtype = dtypeFromName(name))
    return *dtype;
  return value.unsupported("is the unknown element type '" + name + "'");
}

Result<std::vector<std::string>> readShape(JsonRef object) {
  INGOT_TRY(JsonRef value, object.member("shape"));
  return value.list([](JsonRef dim) -> Result<std::string> {
    if (dim.isString())
      return dim.string();
    INGOT_TRY(int64_t number, dim.integer());
    if (number < 0)
      return dim.corrupt("is a negative size");
    return std::to_string(number);
  });
}

Result<Port> readPort(JsonRef value) {
  Port port;
  INGOT_TRY(port.name, stringMember(value, "name"));
  INGOT_TRY(port.state, optionalString(value, "state"));
  if (value.json().contains("literal")) {
    port.literal = value.json()["literal"].dump();
    return port;
  }
  INGOT_TRY(port.dtype, readDType(value));
  INGOT_TRY(port.shape, readShape(value));
  INGOT_TRY(std::optional<JsonRef> scalar, value.optionalMember("scalar"));
  if (scalar) {
    INGOT_TRY(port.isScalar, scalar->boolean());
  }
  return port;
}

Result<StatePort> readState(JsonRef value) {
  StatePort state;
  INGOT_TRY(state.name, stringMember(value, "name"));
  INGOT_TRY(state.dtype, readDType(value));
  INGOT_TRY(state.shape, readShape(value));
  INGOT_TRY(state.weight, stringMember(value, "weight"));
  return state;
}

Result<Symbol> readSymbol(JsonRef value) {
  Symbol symbol;
  INGOT_TRY(symbol.name, stringMember(value, "name"));
  INGOT_TRY(JsonRef min, value.member("min"));
  INGOT_TRY(symbol.min, min.integer());
  INGOT_TRY(JsonRef max, value.member("max"));
  INGOT_TRY(symbol.max, max.integer());
  if (symbol.min > symbol.max)
    return value.corrupt("has a minimum above its maximum");
  return symbol;
}

template <typename Read> auto readList(JsonRef object, std::string_view key, Read read) {
  Result<JsonRef> value = object.member(key);
  using List = decltype(value->list(read));
  return value ? value->list(read) : List(std::move(value.error()));
}

/// Up to version 1.1 the new value of an argument that the program changes was an output.
Status upgradeOutputs(JsonRef value, EntryPoint &entry) {
  INGOT_TRY(auto mutated, readList(value, "outputs", [](JsonRef output) { return optionalString(output, "mutates"); }));
  std::map<std::string_view, Port *> inputs;
  for (Port &input : entry.inputs)
    inputs.emplace(input.name, &input);
  std::set<std::string> taken;
  for (const StatePort &state : entry.states)
    taken.insert(state.name);
  std::vector<Port> plain;
  for (size_t i = 0; i < mutated.size(); ++i) {
    if (mutated[i].empty()) {
      plain.push_back(std::move(entry.outputs[i]));
      continue;
    }
    auto found = inputs.find(mutated[i]);
    if (found == inputs.end())
      return value.corrupt("changes the input '" + mutated[i] + "', which it does not have");
    Port &input = *found->second;
    if (!input.state.empty())
      return value.corrupt("changes the input '" + mutated[i] + "' twice");
    // The program's other states are unchanged, so this name is made as the plan makes it.
    std::string name = mutated[i];
    for (int number = 1; !taken.insert(name).second; ++number)
      name = mutated[i] + "_" + std::to_string(number);
    input.state = name;
    entry.states.push_back({name, input.dtype, input.shape, ""});
  }
  entry.outputs = std::move(plain);
  return {};
}

Result<EntryPoint> readEntryPoint(JsonRef value) {
  EntryPoint entry;
  INGOT_TRY(entry.name, stringMember(value, "name"));
  INGOT_TRY(entry.inputs, readList(value, "inputs", readPort));
  INGOT_TRY(entry.outputs, readList(value, "outputs", readPort));
  INGOT_TRY(entry.states, readList(value, "states", readState));
  INGOT_TRY(entry.symbols, readList(value, "symbols", readSymbol));
  INGOT_TRY(entry.inSpec, stringMember(value, "in_spec"));
  INGOT_TRY(entry.outSpec, stringMember(value, "out_spec"));
  INGOT_CHECK(upgradeOutputs(value, entry));
  return entry;
}

/// A plain name inside the asset: nothing that could lead elsewhere.
bool isPlainFileName(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos && name != kManifestFile && name != kCacheFolder;
}

Result<FileInfo> readFileInfo(const std::string &name, JsonRef value) {
  if (!isPlainFileName(name))
    return value.corrupt("is not a plain file name");
  FileInfo file;
  INGOT_TRY(JsonRef size, value.member("size"));
  INGOT_TRY(int64_t bytes, size.integer());
  if (bytes < 0)
    return size.corrupt("is negative");
  file.size = static_cast<uint64_t>(bytes);
  INGOT_TRY(JsonRef sum, value.member("xxh3_128"));
  INGOT_TRY(std::string digits, sum.string());
  std::optional<Hash128> checksum = Hash128::fromHex(digits);
  if (!checksum)
    return sum.corrupt("is not a checksum of 32 hexadecimal digits");
  file.checksum = *checksum;
  return file;
}

/// The version decides whether the rest can be understood, so it is read first and alone.
Result<FormatVersion> readVersion(JsonRef root) {
  Result<std::string> format = stringMember(root, "format");
  if (!format || *format != kFormatName)
    return corruptError("not the manifest of an Ingot asset: \"format\" should be \"" + std::string(kFormatName) +
                        "\"");
  INGOT_TRY(JsonRef value, root.member("version"));
  INGOT_TRY(auto numbers, value.list([](JsonRef number) { return number.integer(); }));
  if (numbers.size() != 2 || numbers[0] < 1 || numbers[1] < 0)
    return value.corrupt("should be [major, minor]");
  FormatVersion version{numbers[0], numbers[1]};
  if (version.major > kFormatMajor) {
    Result<std::string> writer = stringMember(root, "ingot");
    return unsupportedError("the asset has format version " + std::to_string(version.major) + "." +
                            std::to_string(version.minor) + "; this Ingot reads up to " + std::to_string(kFormatMajor) +
                            ".x")
        .note("it was written by Ingot " + (writer ? *writer : std::string("of an unknown version")) +
              ": update Ingot, or convert the model again with this one");
  }
  return version;
}

Result<Hash128> checkChecksum(JsonRef root) {
  INGOT_TRY(std::string stated, stringMember(root, "checksum"));
  json body = root.json();
  body.erase("checksum");
  Hash128 actual = hashText(dump(body, -1));
  if (actual.hex() != stated)
    return corruptError("the manifest's checksum does not match its content: the file is damaged or was edited");
  return actual;
}

Status checkRequirements(const Manifest &manifest) {
  static constexpr std::array known = {kRequiresLibtorch};
  for (const std::string &requirement : manifest.requirements)
    if (std::find(known.begin(), known.end(), requirement) == known.end())
      return unsupportedError("the asset requires '" + requirement + "', which this Ingot does not have")
          .note("it was written by Ingot " + manifest.ingotVersion + ": update Ingot");
  return {};
}

Status checkNames(const Manifest &manifest) {
  if (manifest.entryPoints.empty())
    return corruptError("the manifest lists no entry points");
  std::set<std::string_view> names;
  for (const EntryPoint &entry : manifest.entryPoints) {
    if (!names.insert(entry.name).second)
      return corruptError("the manifest lists entry point '" + entry.name + "' twice");
    for (const StatePort &state : entry.states)
      if (!state.weight.empty() && !manifest.weights.contains(state.weight))
        return corruptError("the initial value of state '" + state.name + "' is not among the weights");
  }
  for (std::string_view file : {kProgramFile, kWeightsFile})
    if (!manifest.files.contains(file))
      return corruptError("the manifest does not list " + std::string(file));
  return {};
}

Result<FallbackOp> readFallbackOp(JsonRef value) {
  FallbackOp op;
  INGOT_TRY(op.name, stringMember(value, "name"));
  INGOT_TRY(JsonRef count, value.member("count"));
  INGOT_TRY(op.count, count.integer());
  INGOT_TRY(op.reason, stringMember(value, "reason"));
  INGOT_TRY(op.sources, readList(value, "sources", [](JsonRef source) { return source.string(); }));
  return op;
}

Status readFallback(JsonRef root, Manifest &manifest) {
  INGOT_TRY(std::optional<JsonRef> fallback, root.optionalMember("fallback"));
  if (!fallback)
    return {};
  INGOT_TRY(manifest.fallback, readList(*fallback, "ops", readFallbackOp));
  return {};
}

Status readMetadata(JsonRef root, Manifest &manifest) {
  INGOT_TRY(std::optional<JsonRef> metadata, root.optionalMember("metadata"));
  if (!metadata)
    return {};
  return metadata->forEachMember([&](const std::string &name, JsonRef text) -> Status {
    INGOT_TRY(manifest.metadata[name], text.string());
    return {};
  });
}

Status readBody(JsonRef root, Manifest &manifest) {
  INGOT_TRY(manifest.ingotVersion, stringMember(root, "ingot"));
  INGOT_TRY(manifest.torchVersion, stringMember(root, "torch"));
  INGOT_TRY(manifest.entryPoints, readList(root, "entry_points", readEntryPoint));
  INGOT_TRY(manifest.requirements, readList(root, "requirements", [](JsonRef value) { return value.string(); }));
  INGOT_CHECK(readFallback(root, manifest));
  INGOT_CHECK(readMetadata(root, manifest));
  INGOT_TRY(JsonRef weights, root.member("weights"));
  INGOT_CHECK(weights.forEachMember([&](const std::string &name, JsonRef key) -> Status {
    INGOT_TRY(manifest.weights[name], key.string());
    return {};
  }));
  INGOT_TRY(JsonRef ops, root.member("ops"));
  INGOT_CHECK(ops.forEachMember([&](const std::string &name, JsonRef count) -> Status {
    INGOT_TRY(int64_t number, count.integer());
    if (number < 0 || number > std::numeric_limits<int32_t>::max())
      return count.corrupt("is no number of ops");
    manifest.opCounts[name] = number;
    return {};
  }));
  INGOT_TRY(JsonRef files, root.member("files"));
  return files.forEachMember([&](const std::string &name, JsonRef value) -> Status {
    INGOT_TRY(manifest.files[name], readFileInfo(name, value));
    return {};
  });
}

} // namespace

Result<CheckedManifest> asset::parseManifest(std::string_view text) {
  INGOT_TRY(json document, parseJson(text, 64));
  JsonRef root(document);
  CheckedManifest result;
  INGOT_TRY(result.manifest.version, readVersion(root));
  INGOT_TRY(result.checksum, checkChecksum(root));
  INGOT_CHECK(readBody(root, result.manifest));
  INGOT_CHECK(checkRequirements(result.manifest));
  INGOT_CHECK(checkNames(result.manifest));
  return result;
}
