#include "base/SafeTensors.h"

#include "base/AtomicWrite.h"
#include "base/Bytes.h"
#include "base/Json.h"
#include "base/MappedFile.h"

#include <algorithm>
#include <array>
#include <set>

using namespace ingot;
using nlohmann::json;

namespace {

// The reference implementation's limit; real headers are a few megabytes.
constexpr uint64_t maxHeaderSize = 100'000'000;
constexpr size_t alignment = 64;
constexpr std::string_view paddingPrefix = "__padding__.";
constexpr std::string_view metadataKey = "__metadata__";

/// Finds keys that occur twice, which the parsed document no longer shows.
struct DuplicateKeys : nlohmann::json_sax<json> {
  std::vector<std::set<std::string>> open;
  std::string duplicate;

  bool key(string_t &name) override {
    if (open.back().insert(name).second)
      return true;
    duplicate = name;
    return false;
  }
  bool start_object(size_t) override { return open.emplace_back(), true; }
  bool end_object() override { return open.pop_back(), true; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string &, const nlohmann::detail::exception &) override { return false; }
};

struct Placed {
  SafeTensor tensor;
  uint64_t begin = 0, end = 0;
};

Result<Placed> readEntry(const std::string &name, JsonRef value, std::span<const std::byte> data) {
  Placed placed;
  placed.tensor.name = name;
  INGOT_TRY(JsonRef dtypeRef, value.member("dtype"));
  INGOT_TRY(std::string dtypeText, dtypeRef.string());
  std::optional<DType> dtype = dtypeFromSafetensors(dtypeText);
  if (!dtype)
    return dtypeRef.unsupported("is the unknown element type '" + dtypeText + "'");
  placed.tensor.dtype = *dtype;
  INGOT_TRY(JsonRef shapeRef, value.member("shape"));
  INGOT_TRY(placed.tensor.shape, shapeRef.list([](JsonRef size) { return size.integer(); }));
  INGOT_TRY(JsonRef offsetsRef, value.member("data_offsets"));
  INGOT_TRY(auto offsets, offsetsRef.list([](JsonRef offset) { return offset.integer(); }));
  if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0])
    return offsetsRef.corrupt("should be two ascending offsets");
  placed.begin = static_cast<uint64_t>(offsets[0]);
  placed.end = static_cast<uint64_t>(offsets[1]);
  if (placed.end > data.size())
    return offsetsRef.corrupt("lies outside the file; it may be truncated");
  std::optional<int64_t> count = checkedElementCount(placed.tensor.shape);
  std::optional<int64_t> bytes =
      count ? checkedMul<int64_t>(*count, static_cast<int64_t>(byteSize(*dtype))) : std::nullopt;
  if (!bytes)
    return shapeRef.corrupt("is no valid shape");
  if (static_cast<uint64_t>(*bytes) != placed.end - placed.begin)
    return value.corrupt("has " + std::to_string(placed.end - placed.begin) + " bytes of data but its shape needs " +
                         std::to_string(*bytes));
  placed.tensor.data = data.subspan(placed.begin, placed.end - placed.begin);
  return placed;
}

/// The format wants every byte to belong to exactly one tensor.
Status checkCoverage(std::vector<Placed> &entries, uint64_t dataSize) {
  std::ranges::sort(entries, {}, [](const Placed &entry) { return std::pair(entry.begin, entry.end); });
  uint64_t next = 0;
  for (const Placed &entry : entries) {
    if (entry.begin < next)
      return corruptError("safetensors: data of '" + entry.tensor.name + "' overlaps its neighbour");
    if (entry.begin > next)
      return corruptError("safetensors: unused bytes before '" + entry.tensor.name + "'");
    next = entry.end;
  }
  if (next != dataSize)
    return corruptError("safetensors: " + std::to_string(dataSize - next) + " unused bytes at the end of the file");
  return {};
}

Result<std::string_view> headerText(std::span<const std::byte> bytes) {
  if (bytes.size() < 8)
    return corruptError("safetensors: the file is shorter than its header");
  uint64_t length = loadLittle<uint64_t>(bytes, 0);
  if (length > maxHeaderSize)
    return corruptError("safetensors: impossible header length; this is not a safetensors file");
  if (!fitsIn(8, length, bytes.size()))
    return corruptError("safetensors: the header lies outside the file; it may be truncated");
  return asText(bytes.subspan(8, length));
}

Result<json> parseHeader(std::string_view text) {
  if (!text.starts_with('{'))
    return corruptError("safetensors: the header does not start with '{'");
  // Depth 8 is ample: names, fields, lists.
  Result<json> header = parseJson(text, 8);
  if (!header)
    return std::move(header.error()).note("in the header of a safetensors file");
  DuplicateKeys checker;
  if (!json::sax_parse(text.begin(), text.end(), &checker))
    return corruptError("safetensors: '" + checker.duplicate + "' occurs twice in the header");
  return header;
}

} // namespace

const SafeTensor *SafeTensors::find(std::string_view name) const {
  auto found = std::ranges::lower_bound(tensors, name, {}, &SafeTensor::name);
  return found != tensors.end() && found->name == name ? &*found : nullptr;
}

Result<SafeTensors> ingot::parseSafeTensors(std::span<const std::byte> bytes) {
  INGOT_TRY(std::string_view text, headerText(bytes));
  INGOT_TRY(json header, parseHeader(text));
  std::span<const std::byte> data = bytes.subspan(8 + text.size());
  SafeTensors file;
  std::vector<Placed> entries;
  INGOT_CHECK(JsonRef(header).forEachMember([&](const std::string &name, JsonRef value) -> Status {
    if (name == metadataKey)
      return value.forEachMember([&](const std::string &key, JsonRef text) -> Status {
        INGOT_TRY(file.metadata[key], text.string());
        return {};
      });
    INGOT_TRY(Placed entry, readEntry(name, value, data));
    entries.push_back(std::move(entry));
    return {};
  }));
  INGOT_CHECK(checkCoverage(entries, data.size()));
  for (Placed &entry : entries)
    if (!entry.tensor.name.starts_with(paddingPrefix))
      file.tensors.push_back(std::move(entry.tensor));
  std::ranges::sort(file.tensors, {}, &SafeTensor::name);
  return file;
}

Result<SafeTensors> ingot::readSafeTensors(const std::string &path) {
  INGOT_TRY(std::shared_ptr<MappedFile> mapped, MappedFile::open(path));
  Result<SafeTensors> file = parseSafeTensors(mapped->bytes());
  if (!file)
    return std::move(file.error()).note("while reading '" + path + "'");
  file->memory = std::move(mapped);
  return file;
}

namespace {

Status checkWritable(const std::vector<SafeTensor> &tensors) {
  std::set<std::string_view> names;
  for (const SafeTensor &tensor : tensors) {
    if (!names.insert(tensor.name).second)
      return usageError("safetensors: two tensors are called '" + tensor.name + "'");
    if (tensor.name == metadataKey || tensor.name.starts_with(paddingPrefix))
      return usageError("safetensors: the name '" + tensor.name + "' is reserved");
    std::optional<int64_t> count = checkedElementCount(tensor.shape);
    if (!count || tensor.data.size() / byteSize(tensor.dtype) != static_cast<uint64_t>(*count) ||
        tensor.data.size() % byteSize(tensor.dtype) != 0)
      return usageError("safetensors: data of '" + tensor.name + "' does not fit its shape");
  }
  return {};
}

json entryJson(DType dtype, const std::vector<int64_t> &shape, uint64_t begin, uint64_t end) {
  return {{"dtype", safetensorsName(dtype)}, {"shape", shape}, {"data_offsets", {begin, end}}};
}

/// Large elements first, so that all are aligned without gaps, which the format does not allow.
std::vector<SafeTensor> inFileOrder(std::vector<SafeTensor> tensors) {
  std::ranges::sort(tensors, {}, [](const SafeTensor &tensor) {
    return std::pair(-static_cast<int64_t>(byteSize(tensor.dtype)), std::string_view(tensor.name));
  });
  return tensors;
}

/// The header, padded with blanks so that the data behind it is aligned.
std::string makeHeader(const std::vector<SafeTensor> &tensors, const std::map<std::string, std::string> &metadata) {
  json header = json::object();
  if (!metadata.empty())
    header[metadataKey] = metadata;
  uint64_t offset = 0;
  for (const SafeTensor &tensor : tensors) {
    header[tensor.name] = entryJson(tensor.dtype, tensor.shape, offset, offset + tensor.data.size());
    offset += tensor.data.size();
  }
  // Names come from outside and may hold any bytes; a replaced character beats an exception.
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.append(-(8 + text.size()) % alignment, ' ');
  return text;
}

} // namespace

Status ingot::writeSafeTensors(const std::string &path, const std::vector<SafeTensor> &given,
                               const std::map<std::string, std::string> &metadata) {
  INGOT_CHECK(checkWritable(given));
  const std::vector<SafeTensor> tensors = inFileOrder(given);
  std::string header = makeHeader(tensors, metadata);
  if (header.size() > maxHeaderSize)
    return unsupportedError("safetensors: the header would exceed the format's 100 MB");
  INGOT_TRY(AtomicFile file, AtomicFile::create(path, AtomicFile::Links::Follow));
  uint64_t length = header.size();
  INGOT_CHECK(file.write(std::as_bytes(std::span(&length, 1))));
  INGOT_CHECK(file.write(header));
  for (const SafeTensor &tensor : tensors)
    INGOT_CHECK(file.write(tensor.data));
  return file.commit();
}
