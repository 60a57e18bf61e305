#include "pt2/Archive.h"

#include "base/Bytes.h"
#include "base/Log.h"
#include "base/MappedFile.h"
#include "base/Zip.h"
#include "pt2/ArchiveLayout.h"
#include "pt2/ProgramReader.h"

#include <cstdlib>
#include <set>
#include <tuple>
#include <unordered_map>

using namespace ingot;
using namespace ingot::pt2;
using nlohmann::json;

namespace {

constexpr size_t weightAlignment = 64;
constexpr uint64_t maxInflatedText = uint64_t(128) << 20; ///< parsing takes several times as much
constexpr uint64_t maxRepeatedBytes = uint64_t(512) << 20;

struct FreeDeleter {
  void operator()(std::byte *bytes) const { std::free(bytes); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeDeleter>;

/// Everything that the spans of a Program point into.
struct ProgramMemory {
  std::shared_ptr<const MappedFile> file;
  std::vector<AlignedBytes> copies;
};

/// A record's text: in place when it is stored, else inflated into `buffer`.
Result<std::string_view> readText(const Zip &zip, const Zip::Entry &entry, std::vector<std::byte> &buffer) {
  if (entry.isStored()) {
    INGOT_CHECK(zip.verify(entry));
    return asText(zip.stored(entry));
  }
  INGOT_TRY(buffer, zip.read(entry, maxInflatedText));
  return asText(buffer);
}

/// One payload configuration file and the records beside it.
class PayloadReader {
public:
  PayloadReader(const ArchiveLayout &layout, Program &program, ProgramMemory &memory, const ReadOptions &options)
      : layout(layout), program(program), memory(memory), options(options) {}

  Status read(const std::string &folder, const std::string &config, NameMap<Weight> &table) {
    const Zip::Entry *entry = layout.find(config);
    if (!entry)
      return corruptError("the archive lacks '" + config + "'");
    std::vector<std::byte> buffer;
    INGOT_TRY(std::string_view text, readText(layout.zip, *entry, buffer));
    Result<json> document = parseJson(text);
    if (!document)
      return std::move(document.error()).note("in '" + config + "'");
    Status status = readEntries(folder, JsonRef(*document), table);
    if (!status)
      return std::move(status.error()).note("in '" + config + "'");
    return {};
  }

private:
  Status readEntries(const std::string &folder, JsonRef document, NameMap<Weight> &table) {
    INGOT_TRY(JsonRef entries, document.member("config"));
    return entries.forEachMember([&](const std::string &name, JsonRef value) -> Status {
      INGOT_TRY(Weight weight, readEntry(folder, name, value));
      table.emplace_hint(table.end(), name, std::move(weight));
      return {};
    });
  }

  Result<Weight> readEntry(const std::string &folder, const std::string &name, JsonRef json) {
    Weight weight;
    INGOT_TRY(auto isParameter, json.optionalMember("is_param"));
    if (isParameter) {
      INGOT_TRY(weight.isParameter, isParameter->boolean());
    }
    INGOT_TRY(auto pickled, json.optionalMember("use_pickle"));
    bool isPickled = false;
    if (pickled) {
      INGOT_TRY(isPickled, pickled->boolean());
    }
    INGOT_TRY(auto meta, json.optionalMember("tensor_meta"));
    if (isPickled || !meta) {
      // Kept in the table so that whoever needs it can say which one is missing.
      weight.kind = meta ? PayloadKind::Pickled : PayloadKind::CustomObject;
      return weight;
    }
    INGOT_CHECK(readMeta(*meta, weight));
    INGOT_TRY(JsonRef path, json.member("path_name"));
    INGOT_TRY(std::string record, path.string());
    INGOT_TRY(weight.storageId, storageOf(folder + record));
    weight.storage = program.storages[weight.storageId].bytes;
    if (options.needsData || !weight.storage.empty())
      INGOT_CHECK(checkView(name, weight));
    return weight;
  }

  static Status readMeta(JsonRef json, Weight &weight) {
    INGOT_TRY(TensorMeta meta, readTensorMeta(json));
    if (meta.layout != Layout::Strided)
      return json.unsupported("is a sparse or opaque tensor; make it dense before exporting");
    weight.dtype = meta.dtype;
    weight.requiresGrad = meta.requiresGrad;
    auto append = [&](const SymInt &number, std::vector<int64_t> &numbers) {
      if (number.isConcrete())
        numbers.push_back(number.concrete());
      return number.isConcrete();
    };
    for (size_t d = 0; d < meta.sizes.size(); ++d)
      if (!append(meta.sizes[d], weight.sizes) || !append(meta.strides[d], weight.strides))
        return json.corrupt("has a symbolic size or stride");
    if (!meta.storageOffset.isConcrete())
      return json.corrupt("has a symbolic offset");
    weight.storageOffset = meta.storageOffset.concrete();
    return {};
  }

  Result<size_t> storageOf(const std::string &record) {
    auto [found, isNew] = storageIds.try_emplace(record, program.storages.size());
    if (!isNew)
      return found->second;
    const Zip::Entry *entry = layout.find(record);
    if (!entry)
      return corruptError("the archive lacks the record '" + record + "'");
    INGOT_TRY(std::span<const std::byte> bytes, payload(*entry));
    program.storages.push_back({record, bytes});
    return found->second;
  }

  Result<std::span<const std::byte>> payload(const Zip::Entry &entry) {
    const Zip &zip = layout.zip;
    if (entry.isStored() && entry.dataOffset % weightAlignment == 0) {
      if (options.verifyChecksums)
        INGOT_CHECK(zip.verify(entry));
      return zip.stored(entry);
    }
    if (entry.size == 0)
      return std::span<const std::byte>();
    INGOT_CHECK(zip.checkSize(entry));
    INGOT_LOG(Debug, "copying '" << entry.name << "': it is compressed or not aligned");
    size_t rounded = (entry.size + weightAlignment - 1) / weightAlignment * weightAlignment;
    AlignedBytes copy(static_cast<std::byte *>(std::aligned_alloc(weightAlignment, rounded)));
    if (!copy)
      return ioError("not enough memory for '" + entry.name + "'");
    std::span<std::byte> target(copy.get(), entry.size);
    INGOT_CHECK(zip.readInto(entry, target));
    memory.copies.push_back(std::move(copy));
    return std::span<const std::byte>(target);
  }

  const ArchiveLayout &layout;
  Program &program;
  ProgramMemory &memory;
  const ReadOptions &options;
  std::unordered_map<std::string, size_t> storageIds;
};

/// Views that repeat elements of their storage (strides of 0, or one storage under many names) must not make a small
/// file need much memory.
Status checkRepetition(const Program &program) {
  uint64_t limit = maxRepeatedBytes;
  for (const Storage &storage : program.storages)
    limit += storage.bytes.size();
  std::set<std::tuple<size_t, DType, int64_t, std::vector<int64_t>, std::vector<int64_t>>> seen;
  uint64_t total = 0;
  for (const NameMap<Weight> *table : {&program.weights, &program.constants})
    for (const auto &[name, weight] : *table) {
      // Tied weights are one.
      if (!seen.emplace(weight.storageId, weight.dtype, weight.storageOffset, weight.sizes, weight.strides).second)
        continue;
      const uint64_t bytes = weight.storage.empty() ? 0 : uint64_t(weight.elementCount()) * byteSize(weight.dtype);
      if (bytes > limit - total)
        return unsupportedError("weight '" + name + "' of " + std::to_string(bytes) +
                                " bytes repeats what the file holds once; give it memory of its own before exporting: "
                                "tensor.contiguous()");
      total += bytes;
    }
  return {};
}

Result<std::string> chooseModel(const std::vector<std::string> &models, const std::string &wanted) {
  std::string names;
  for (const std::string &model : models) {
    if (model == wanted)
      return model;
    names += (names.empty() ? "'" : ", '") + model + "'";
  }
  if (wanted.empty() && models.size() == 1)
    return models.front();
  if (wanted.empty())
    return usageError("the archive holds several programs; choose one of " + names)
        .note("ingot convert and ingot extract have --program, ingot.convert has program=");
  return usageError("the archive holds no program '" + wanted + "', only " + names);
}

Result<Program> readModel(const ArchiveLayout &layout, const std::string &model, const ReadOptions &options) {
  std::string record = "models/" + model + ".json";
  std::vector<std::byte> buffer;
  INGOT_TRY(std::string_view text, readText(layout.zip, *layout.find(record), buffer));
  Result<Program> program = readProgramJson(text, {options.keepMetadata});
  if (!program)
    return std::move(program.error()).note("in '" + record + "'");
  program->modelName = model;
  return program;
}

Result<Program> readMapped(std::shared_ptr<const MappedFile> file, const ReadOptions &options) {
  INGOT_TRY(ArchiveLayout layout, openArchive(file));
  INGOT_TRY(std::string model, chooseModel(layout.models, options.modelName));
  INGOT_CHECK(checkPayloadLayout(layout, model));
  INGOT_TRY(Program program, readModel(layout, model, options));
  auto memory = std::make_shared<ProgramMemory>();
  memory->file = std::move(file);
  PayloadReader payloads(layout, program, *memory, options);
  INGOT_CHECK(payloads.read("data/weights/", weightsConfig(model), program.weights));
  INGOT_CHECK(payloads.read("data/constants/", constantsConfig(model), program.constants));
  INGOT_CHECK(checkRepetition(program));
  INGOT_CHECK(checkWeightsPresent(program));
  program.memory = std::move(memory);
  return program;
}

Result<Weight> adoptWeight(const MemoryWeight &source) {
  if (!source.storage.data() && !source.storage.empty())
    return usageError("weight '" + source.name + "' has a size but no address");
  Weight weight;
  weight.dtype = source.dtype;
  weight.sizes = source.sizes;
  weight.strides = source.strides;
  weight.storageOffset = source.storageOffset;
  weight.isParameter = source.isParameter;
  weight.storage = source.storage;
  INGOT_CHECK(checkView(source.name, weight));
  return weight;
}

} // namespace

Result<Program> pt2::readProgram(const std::string &path, const ReadOptions &options) {
  INGOT_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  Result<Program> program = readMapped(std::move(file), options);
  if (!program)
    return std::move(program.error()).note("while reading '" + path + "'");
  program->path = path;
  return program;
}

Result<std::vector<std::string>> pt2::listModels(const std::string &path) {
  INGOT_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  Result<ArchiveLayout> layout = openArchive(std::move(file));
  if (!layout)
    return std::move(layout.error()).note("while reading '" + path + "'");
  return layout->models;
}

Status pt2::adoptWeights(Program &program, const std::vector<MemoryWeight> &weights) {
  std::map<std::pair<const std::byte *, size_t>, size_t> storageIds;
  for (const MemoryWeight &source : weights) {
    INGOT_TRY(Weight weight, adoptWeight(source));
    std::pair key(source.storage.data(), source.storage.size());
    auto [found, isNew] = storageIds.try_emplace(key, program.storages.size());
    if (isNew)
      program.storages.push_back({source.name, source.storage});
    weight.storageId = found->second;
    NameMap<Weight> &table = source.isConstant ? program.constants : program.weights;
    if (!table.emplace(source.name, std::move(weight)).second)
      return usageError("weight '" + source.name + "' was given twice");
  }
  return checkWeightsPresent(program);
}

Result<Program> pt2::readProgramFromMemory(std::string_view programJson, const std::vector<MemoryWeight> &weights,
                                           std::shared_ptr<const void> memory, const ReadOptions &options) {
  INGOT_TRY(Program program, readProgramJson(programJson, {options.keepMetadata}));
  program.modelName = options.modelName.empty() ? "model" : options.modelName;
  program.memory = std::move(memory);
  INGOT_CHECK(adoptWeights(program, weights));
  return program;
}
