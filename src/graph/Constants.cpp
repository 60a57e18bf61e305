#include "graph/Constants.h"

#include "base/Bytes.h"
#include "graph/Elements.h"
#include "graph/Values.h"

#include <cstring>
#include <filesystem>

namespace ingot::graph {

namespace {

/// Copies a view in row-major order.
void copyElements(const pt2::Weight &weight, size_t dim, const std::byte *from, std::byte *&to) {
  size_t bytes = byteSize(weight.dtype);
  if (dim == weight.sizes.size()) {
    std::memcpy(to, from, bytes);
    to += bytes;
    return;
  }
  for (int64_t i = 0; i < weight.sizes[dim]; ++i)
    copyElements(weight, dim + 1, from + i * weight.strides[dim] * static_cast<int64_t>(bytes), to);
}

std::shared_ptr<std::vector<std::byte>> contiguous(const pt2::Weight &weight) {
  size_t size = static_cast<size_t>(weight.elementCount()) * byteSize(weight.dtype);
  auto bytes = std::make_shared<std::vector<std::byte>>(size);
  std::byte *to = bytes->data();
  if (size > 0)
    copyElements(weight, 0, weight.data(), to);
  return bytes;
}

/// Keeps what was there before and one thing more.
std::shared_ptr<const void> both(std::shared_ptr<const void> first, std::shared_ptr<const void> second) {
  using Pair = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  return std::make_shared<Pair>(std::move(first), std::move(second));
}

Result<std::vector<int64_t>> shapeOf(const Json &entry) {
  std::vector<int64_t> shape;
  for (const Json &size : entry["shape"]) {
    if (!size.is_number_integer() || size.get<int64_t>() < 0)
      return corruptError("has an impossible shape");
    shape.push_back(size.get<int64_t>());
  }
  return shape;
}

/// An entry of the file beside the document. Only that folder is read: a document may come from anybody.
Result<ConstantValue> valueInFile(const Document &document, const Json &entry) {
  if (!entry["file"].is_string() || !entry.contains("key") || !entry["key"].is_string())
    return corruptError("should name a file and a key");
  std::string file = entry["file"].get<std::string>(), key = entry["key"].get<std::string>();
  if (file.empty() || std::filesystem::path(file).filename() != file)
    return corruptError("names the file '" + file + "', which is not beside the document");
  if (document.folder.empty())
    return usageError("lies in '" + file + "' beside the document, which was not read from a file");
  INGOT_TRY(SafeTensors tensors, readSafeTensors((std::filesystem::path(document.folder) / file).string()));
  const SafeTensor *tensor = tensors.find(key);
  if (!tensor)
    return corruptError("is not in '" + file + "' under the key '" + key + "'");
  return ConstantValue{tensor->dtype, tensor->shape, tensor->data, tensors.memory};
}

} // namespace

std::string constantsFileOf(const std::string &documentPath) { return documentPath + ".constants.safetensors"; }

void addConstant(Document &document, const std::string &name, const pt2::Weight &weight) {
  std::shared_ptr<std::vector<std::byte>> bytes = contiguous(weight);
  if (weight.elementCount() > kMostInlineElements) {
    document.sideConstants.push_back({name, weight.dtype, weight.sizes, *bytes});
    document.memory = both(document.memory, bytes);
    return;
  }
  Json entry = Json::object();
  entry["dtype"] = dtypeName(weight.dtype);
  entry["shape"] = weight.sizes;
  entry["data"] = elementsAsLists(weight.dtype, weight.sizes, *bytes);
  document.constants.emplace_back(name, std::move(entry));
}

Result<ConstantValue> constantValue(const Document &document, const Json &entry) {
  if (!entry.is_object())
    return corruptError("should be an object");
  if (entry.contains("file"))
    return valueInFile(document, entry);
  std::optional<DType> dtype;
  if (entry.contains("dtype") && entry["dtype"].is_string())
    dtype = dtypeFromText(entry["dtype"].get<std::string>());
  if (!dtype || !entry.contains("data"))
    return corruptError("needs a known 'dtype', and 'data' or 'file'");
  std::vector<int64_t> shape = shapeOfLists(*dtype, entry["data"]);
  if (entry.contains("shape")) {
    INGOT_TRY(shape, shapeOf(entry));
  }
  INGOT_TRY(std::vector<std::byte> bytes, elementsFromLists(*dtype, shape, entry["data"]));
  auto memory = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  return ConstantValue{*dtype, std::move(shape), *memory, memory};
}

} // namespace ingot::graph
