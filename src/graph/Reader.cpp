#include "graph/Reader.h"

#include "base/Bytes.h"
#include "base/Json.h"
#include "base/MappedFile.h"

#include <charconv>
#include <filesystem>

namespace ingot::graph {

namespace {

constexpr int64_t kMajorVersion = 1;
constexpr size_t kMostProblems = 100;

/// Collects problems; each costs the part of the document that has it.
class DocumentReader {
public:
  Result<Document> read(const nlohmann::json &json) {
    JsonRef root(json);
    INGOT_CHECK(checkVersion(root));
    readText(root, "format_version", document.formatVersion);
    readText(root, "model_name", document.modelName);
    readText(root, "pytorch_version", document.pytorchVersion);
    readList(root, "graph_inputs", document.graph.inputs, &DocumentReader::tensor, true);
    readList(root, "graph_outputs", document.graph.outputs, &DocumentReader::tensor, true);
    readList(root, "weights", document.weights, &DocumentReader::weight, true);
    readList(root, "nodes", document.graph.nodes, &DocumentReader::node, true);
    readMembers(root, "weight_name_mapping", [this](const std::string &key, JsonRef value) -> Status {
      INGOT_TRY(std::string name, value.string());
      document.weightNames.emplace_back(key, std::move(name));
      return {};
    });
    readMembers(root, "constants", [this](const std::string &key, JsonRef value) -> Status {
      document.constants.emplace_back(key, Json(value.json()));
      return {};
    });
    readBodies(root, document.graph);
    readTables(root);
    if (problems.empty())
      return std::move(document);
    return failure();
  }

  Result<Node> readNode(const nlohmann::json &json) {
    Node read = node(JsonRef(json));
    if (problems.empty())
      return read;
    return failure();
  }

private:
  static Status checkVersion(JsonRef root) {
    INGOT_TRY(auto format, root.optionalMember("format"));
    if (format && format->json() != "ingot.graph")
      return format->unsupported("should be \"ingot.graph\"");
    INGOT_TRY(auto version, root.optionalMember("format_version"));
    if (!version)
      return {};
    INGOT_TRY(std::string text, version->string());
    int64_t major = 0;
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), major);
    if (failure != std::errc() || (end != text.data() + text.size() && *end != '.'))
      return version->corrupt("should look like \"1.0\"");
    if (major > kMajorVersion)
      return unsupportedError("the document has the format version " + text + ", this reader knows " +
                              std::to_string(kMajorVersion) + ".x; a newer Ingot can read it");
    return {};
  }

  Error failure() const {
    Error error = corruptError(problems.front());
    for (size_t i = 1; i < problems.size(); ++i)
      error.notes.push_back(problems[i]);
    return error;
  }

  void add(const Error &error) {
    if (problems.size() < kMostProblems)
      problems.push_back(error.str());
  }

  /// Whether `result` is good; its error is kept otherwise.
  template <typename T> bool good(const Result<T> &result) {
    if (!result)
      add(result.error());
    return static_cast<bool>(result);
  }

  std::optional<JsonRef> find(JsonRef json, const char *key) {
    auto found = json.optionalMember(key);
    return good(found) ? *found : std::nullopt;
  }

  void readText(JsonRef json, const char *key, std::string &text) {
    std::optional<JsonRef> found = find(json, key);
    if (!found)
      return;
    if (auto value = found->string(); good(value))
      text = *std::move(value);
  }

  std::optional<int64_t> readInteger(JsonRef json, const char *key) {
    std::optional<JsonRef> found = find(json, key);
    if (!found)
      return std::nullopt;
    auto value = found->clampedInteger();
    return good(value) ? std::optional(*value) : std::nullopt;
  }

  bool readFlag(JsonRef json, const char *key, bool otherwise) {
    std::optional<JsonRef> found = find(json, key);
    if (!found)
      return otherwise;
    auto value = found->boolean();
    return good(value) ? *value : otherwise;
  }

  template <typename T>
  void readList(JsonRef json, const char *key, std::vector<T> &list, T (DocumentReader::*read)(JsonRef),
                bool isRequired = false) {
    std::optional<JsonRef> found = find(json, key);
    if (!found) {
      if (isRequired && json.json().is_object())
        add(json.corrupt("lacks the member '" + std::string(key) + "'"));
      return;
    }
    // The items keep their problems to themselves, so that all of them are seen.
    (void)good(found->list([&](JsonRef item) {
      list.push_back((this->*read)(item));
      return Result<bool>(true);
    }));
  }

  template <typename Visit> void readMembers(JsonRef json, const char *key, Visit visit) {
    std::optional<JsonRef> found = find(json, key);
    if (!found)
      return;
    (void)good(found->forEachMember([&](const std::string &name, JsonRef value) -> Status {
      (void)good(visit(name, value));
      return {};
    }));
  }

  std::string string(JsonRef json) {
    auto value = json.string();
    return good(value) ? *std::move(value) : "";
  }

  Size size(JsonRef json) {
    if (json.isString())
      return json.json().get<std::string>();
    auto value = json.integer();
    return good(value) ? Size(*value) : Size(int64_t(0));
  }

  Tensor tensor(JsonRef json) {
    Tensor tensor;
    readText(json, "name", tensor.name);
    readText(json, "dtype", tensor.dtype);
    readList(json, "shape", tensor.shape, &DocumentReader::size, true);
    if (std::string producer; find(json, "producer_node")) {
      readText(json, "producer_node", producer);
      tensor.producerNode = producer;
    }
    tensor.producerIndex = readInteger(json, "producer_output_idx").value_or(0);
    readList(json, "strides", tensor.strides, &DocumentReader::size);
    if (std::optional<JsonRef> offset = find(json, "storage_offset"))
      tensor.offset = size(*offset);
    readText(json, "device", tensor.device);
    readText(json, "layout", tensor.layout);
    return tensor;
  }

  Weight weight(JsonRef json) {
    Weight weight;
    static_cast<Tensor &>(weight) = tensor(json);
    readText(json, "kind", weight.kind);
    weight.persistent = readFlag(json, "persistent", true);
    readText(json, "same_as", weight.sameAs);
    return weight;
  }

  ArgumentRecord argument(JsonRef json) {
    ArgumentRecord record;
    readText(json, "name", record.name);
    readText(json, "kind", record.kind);
    if (std::optional<JsonRef> value = find(json, "value"))
      record.value = Json(value->json());
    record.keyword = readFlag(json, "keyword", false);
    return record;
  }

  Scalar scalar(JsonRef json) {
    Scalar scalar;
    readText(json, "name", scalar.name);
    readText(json, "type", scalar.type);
    readText(json, "expr", scalar.expr);
    return scalar;
  }

  Source source(JsonRef json) {
    Source source;
    readText(json, "file", source.file);
    source.line = readInteger(json, "line").value_or(0);
    readText(json, "function", source.function);
    readText(json, "code", source.code);
    return source;
  }

  Node node(JsonRef json) {
    Node node;
    readText(json, "name", node.name);
    readText(json, "op_type", node.opType);
    readList(json, "inputs", node.inputs, &DocumentReader::tensor);
    readList(json, "outputs", node.outputs, &DocumentReader::tensor);
    if (std::optional<JsonRef> attrs = find(json, "attrs")) {
      if (attrs->json().is_object())
        node.attrs = Json(attrs->json());
      else
        add(attrs->corrupt("should be an object"));
    }
    if (find(json, "args"))
      readList(json, "args", node.args.emplace(), &DocumentReader::argument);
    readList(json, "scalars", node.scalars, &DocumentReader::scalar);
    readList(json, "mutates", node.mutates, &DocumentReader::string);
    readText(json, "module", node.module);
    readText(json, "module_type", node.moduleType);
    if (std::optional<JsonRef> place = find(json, "source"))
      node.source = source(*place);
    return node;
  }

  void readBodies(JsonRef json, Body &parent) {
    readMembers(json, "subgraphs", [&](const std::string &name, JsonRef value) -> Status {
      Body &body = parent.subgraphs[name];
      readList(value, "inputs", body.inputs, &DocumentReader::tensor, true);
      readList(value, "outputs", body.outputs, &DocumentReader::tensor, true);
      readList(value, "nodes", body.nodes, &DocumentReader::node, true);
      if (std::optional<JsonRef> signature = find(value, "signature"))
        body.signature = Json(signature->json());
      readBodies(value, body);
      return {};
    });
  }

  void readTables(JsonRef root) {
    readMembers(root, "symbols", [this](const std::string &name, JsonRef value) -> Status {
      Symbol &symbol = document.symbols[name];
      symbol.min = readInteger(value, "min");
      symbol.max = readInteger(value, "max");
      symbol.hint = readInteger(value, "hint");
      readText(value, "name", symbol.name);
      return {};
    });
    readMembers(root, "expressions", [this](const std::string &text, JsonRef value) -> Status {
      INGOT_TRY(document.expressions[text], value.string());
      return {};
    });
    readList(root, "guards", document.guards, &DocumentReader::string);
    if (std::optional<JsonRef> signature = find(root, "signature"))
      document.signature = Json(signature->json());
  }

  Document document;
  std::vector<std::string> problems;
};

/// The end of the string that begins at `begin` (behind its quote).
size_t endOfString(std::string_view text, size_t begin) {
  while (begin < text.size() && text[begin] != '"')
    begin += text[begin] == '\\' ? 2 : 1;
  return begin;
}

} // namespace

bool looksLikeDocument(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '{') // an archive, say
    return false;
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '{' || c == '[')
      ++depth;
    else if (c == '}' || c == ']')
      --depth;
    if (c != '"')
      continue;
    size_t end = endOfString(text, i + 1);
    if (end >= text.size())
      return false;
    std::string_view key = text.substr(i + 1, end - i - 1);
    i = end;
    size_t next = text.find_first_not_of(" \t\r\n", end + 1);
    if (depth != 1 || next == text.npos || text[next] != ':')
      continue;
    if (key == "graph_module" || key == "schema_version")
      return false;
    if (key == "format" || key == "graph_inputs" || key == "nodes")
      return true;
  }
  return false;
}

Result<Document> readDocument(std::string_view text) {
  INGOT_TRY(nlohmann::json json, parseJson(text));
  if (!json.is_object())
    return corruptError("a graph document should be a JSON object");
  return DocumentReader().read(json);
}

Result<Node> readNode(std::string_view text) {
  INGOT_TRY(nlohmann::json json, parseJson(text));
  if (!json.is_object())
    return corruptError("a node should be a JSON object");
  return DocumentReader().readNode(json);
}

Result<Document> readDocumentFile(const std::string &path) {
  INGOT_TRY(std::shared_ptr<MappedFile> file, MappedFile::open(path));
  Result<Document> document = readDocument(asText(file->bytes()));
  if (!document)
    return std::move(document.error()).note("while reading '" + path + "'");
  document->folder = std::filesystem::absolute(path).parent_path().string();
  return document;
}

} // namespace ingot::graph
