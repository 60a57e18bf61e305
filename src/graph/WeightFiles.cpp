#include "graph/WeightFiles.h"

#include "base/Bytes.h"
#include "base/Json.h"
#include "base/MappedFile.h"
#include "base/SafeTensors.h"

#include <filesystem>
#include <map>
#include <set>

namespace ingot::graph {

namespace {

using Memory = std::vector<std::shared_ptr<const void>>;

class FileReader {
public:
  Status readTensors(const std::string &path) {
    INGOT_TRY(SafeTensors tensors, readSafeTensors(path));
    for (const SafeTensor &tensor : tensors.tensors)
      INGOT_CHECK(add(tensor, path));
    memory.push_back(std::move(tensors.memory));
    return {};
  }

  /// `{"weight_map": {key: file}}`; the files lie beside the index.
  Status readIndex(const std::string &path) {
    INGOT_TRY(std::shared_ptr<MappedFile> file, MappedFile::open(path));
    INGOT_TRY(nlohmann::json json, parseJson(asText(file->bytes())));
    JsonRef root(json);
    INGOT_TRY(JsonRef map, root.member("weight_map"));
    std::map<std::string, std::set<std::string>> keysOf;
    INGOT_CHECK(map.forEachMember([&](const std::string &key, JsonRef value) -> Status {
      INGOT_TRY(std::string name, value.string());
      if (name.empty() || std::filesystem::path(name).filename() != name)
        return value.corrupt("should be the name of a file beside the index");
      keysOf[name].insert(key);
      return {};
    }));
    for (const auto &[name, keys] : keysOf)
      INGOT_CHECK(readShard((std::filesystem::path(path).parent_path() / name).string(), keys));
    return {};
  }

  WeightFiles take() {
    files.memory = std::make_shared<Memory>(std::move(memory));
    return std::move(files);
  }

private:
  Status readShard(const std::string &path, const std::set<std::string> &keys) {
    INGOT_TRY(SafeTensors tensors, readSafeTensors(path));
    for (const std::string &key : keys) {
      const SafeTensor *tensor = tensors.find(key);
      if (!tensor)
        return corruptError("'" + path + "' lacks '" + key + "', which its index promises");
      INGOT_CHECK(add(*tensor, path));
    }
    memory.push_back(std::move(tensors.memory));
    return {};
  }

  Status add(const SafeTensor &tensor, const std::string &path) {
    if (!names.insert(tensor.name).second)
      return usageError("the weight '" + tensor.name + "' stands in '" + path + "' and in another file");
    pt2::MemoryWeight weight;
    weight.name = tensor.name;
    weight.dtype = tensor.dtype;
    weight.sizes = tensor.shape;
    weight.strides.assign(tensor.shape.size(), 1);
    for (size_t d = tensor.shape.size(); d-- > 1;)
      weight.strides[d - 1] = weight.strides[d] * tensor.shape[d];
    weight.storage = tensor.data;
    files.weights.push_back(std::move(weight));
    return {};
  }

  WeightFiles files;
  Memory memory;
  std::set<std::string> names;
};

} // namespace

Result<WeightFiles> readWeightFiles(const std::vector<std::string> &paths) {
  FileReader reader;
  for (const std::string &path : paths) {
    std::string extension = std::filesystem::path(path).extension().string();
    if (extension != ".json" && extension != ".safetensors")
      return unsupportedError("cannot read weights from '" + path + "'")
          .note("give a .safetensors file or the index of its shards (*.index.json)");
    Status status = extension == ".json" ? reader.readIndex(path) : reader.readTensors(path);
    if (!status)
      return std::move(status.error()).note("while reading the weights in '" + path + "'");
  }
  return reader.take();
}

} // namespace ingot::graph
