#include "asset/WeightsWriter.h"

#include "asset/HashingFile.h"
#include "base/Bytes.h"
#include "base/Json.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

using namespace ingot;
using namespace ingot::asset;
using nlohmann::json;

namespace {

constexpr uint64_t alignment = 64;

uint64_t gapAfter(uint64_t offset) { return -offset % alignment; }

/// A view cut into runs: `runBytes` consecutive bytes, repeated over the outer dimensions.
struct Runs {
  size_t runBytes = 0;
  std::vector<int64_t> sizes, byteStrides;
};

bool isNested(int64_t outerStride, int64_t innerSize, int64_t innerStride) {
  return outerStride == innerSize * innerStride;
}

/// Merges dimensions that lie behind each other in memory; a contiguous view becomes one run.
Runs cutIntoRuns(const WeightSource &weight) {
  int64_t element = static_cast<int64_t>(byteSize(weight.dtype));
  Runs runs;
  int64_t run = element; // in bytes
  size_t rank = weight.sizes.size();
  std::vector<int64_t> strides(rank);
  int64_t contiguous = element;
  for (size_t i = rank; i-- > 0; contiguous *= std::max<int64_t>(weight.sizes[i], 1))
    strides[i] = weight.strides.empty() ? contiguous : weight.strides[i] * element;
  for (size_t i = rank; i-- > 0;) {
    if (weight.sizes[i] == 1)
      continue;
    if (runs.sizes.empty() && strides[i] == run) {
      run *= weight.sizes[i];
    } else if (!runs.sizes.empty() && isNested(strides[i], runs.sizes.back(), runs.byteStrides.back())) {
      runs.sizes.back() *= weight.sizes[i];
    } else {
      runs.sizes.push_back(weight.sizes[i]);
      runs.byteStrides.push_back(strides[i]);
    }
  }
  std::ranges::reverse(runs.sizes);
  std::ranges::reverse(runs.byteStrides);
  runs.runBytes = static_cast<size_t>(run);
  return runs;
}

template <size_t Bytes> void gather(std::byte *to, const std::byte *from, int64_t count, int64_t stride) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * static_cast<int64_t>(Bytes), from + i * stride, Bytes);
}

/// `count` runs with `stride` bytes between their starts, packed.
void gatherRuns(std::byte *to, const std::byte *from, int64_t count, int64_t stride, size_t runBytes) {
  switch (runBytes) { // a constant size lets memcpy become one load and one store
  case 1:
    return gather<1>(to, from, count, stride);
  case 2:
    return gather<2>(to, from, count, stride);
  case 4:
    return gather<4>(to, from, count, stride);
  case 8:
    return gather<8>(to, from, count, stride);
  default:
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * static_cast<int64_t>(runBytes), from + i * stride, runBytes);
  }
}

/// Writes the view piece by piece through one buffer.
class ViewWriter {
public:
  ViewWriter(HashingFile &file, const Runs &runs) : file(file), runs(runs), buffer(bufferSize) {}

  Status write(const std::byte *data) {
    INGOT_CHECK(writeDimension(data, 0));
    return flush();
  }

private:
  static constexpr size_t bufferSize = size_t(1) << 20;

  Status writeDimension(const std::byte *from, size_t dim) {
    if (dim == runs.sizes.size())
      return file.write({from, runs.runBytes});
    if (dim + 1 == runs.sizes.size() && runs.runBytes <= bufferSize / 16)
      return writeRow(from, runs.sizes[dim], runs.byteStrides[dim]);
    for (int64_t i = 0; i < runs.sizes[dim]; ++i)
      INGOT_CHECK(writeDimension(from + i * runs.byteStrides[dim], dim + 1));
    return {};
  }

  Status writeRow(const std::byte *from, int64_t count, int64_t stride) {
    while (count > 0) {
      if (bufferSize - used < runs.runBytes)
        INGOT_CHECK(flush());
      int64_t fitting = std::min(count, static_cast<int64_t>((bufferSize - used) / runs.runBytes));
      gatherRuns(buffer.data() + used, from, fitting, stride, runs.runBytes);
      used += static_cast<size_t>(fitting) * runs.runBytes;
      from += fitting * stride;
      count -= fitting;
    }
    return {};
  }

  Status flush() { return file.write(std::span(buffer).first(std::exchange(used, 0))); }

  HashingFile &file;
  const Runs &runs;
  std::vector<std::byte> buffer;
  size_t used = 0;
};

Result<uint64_t> byteCount(const WeightSource &weight) {
  std::optional<int64_t> count = checkedElementCount(weight.sizes);
  std::optional<int64_t> bytes =
      count ? checkedMul<int64_t>(*count, static_cast<int64_t>(byteSize(weight.dtype))) : std::nullopt;
  bool stridesFit = weight.strides.empty() || weight.strides.size() == weight.sizes.size();
  if (!bytes || !stridesFit || (*bytes > 0 && !weight.data))
    return internalError("weight '" + weight.key + "' has no valid shape, strides or data");
  return static_cast<uint64_t>(*bytes);
}

json entryJson(std::string_view dtype, const std::vector<int64_t> &shape, uint64_t begin, uint64_t size) {
  return {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {begin, begin + size}}};
}

/// The format has no holes, so gaps are entries of their own; base/SafeTensors.h hides them again.
Result<std::string> makeHeader(const std::vector<WeightSource> &weights) {
  json header = {{"__metadata__", {{"format", "ingot"}}}};
  uint64_t offset = 0;
  for (const WeightSource &weight : weights) {
    INGOT_TRY(uint64_t size, byteCount(weight));
    if (weight.key == "__metadata__" || weight.key.starts_with("__padding__."))
      return unsupportedError("a weight cannot be called '" + weight.key +
                              "', which safetensors files keep for themselves")
          .note("rename the parameter or buffer");
    if (header.contains(weight.key))
      return internalError("two weights have the key '" + weight.key + "'");
    header[weight.key] = entryJson(safetensorsName(weight.dtype), weight.sizes, offset, size);
    offset += size;
    if (uint64_t gap = gapAfter(offset)) {
      header["__padding__." + std::to_string(offset)] = entryJson("U8", {static_cast<int64_t>(gap)}, offset, gap);
      offset += gap;
    }
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.append(gapAfter(sizeof(uint64_t) + text.size()), ' ');
  return text;
}

} // namespace

Result<FileInfo> asset::writeWeights(const std::string &path, const std::vector<WeightSource> &weights) {
  INGOT_TRY(std::string header, makeHeader(weights));
  INGOT_TRY(HashingFile file, HashingFile::create(path));
  uint64_t length = header.size();
  INGOT_CHECK(file.write(std::as_bytes(std::span(&length, 1))));
  INGOT_CHECK(file.write(asBytes(header)));
  static constexpr std::array<std::byte, alignment> zeros{};
  for (const WeightSource &weight : weights) {
    INGOT_TRY(uint64_t size, byteCount(weight));
    if (size == 0)
      continue;
    Runs runs = cutIntoRuns(weight);
    if (runs.sizes.empty())
      INGOT_CHECK(file.write({weight.data, runs.runBytes}));
    else
      INGOT_CHECK(ViewWriter(file, runs).write(weight.data));
    INGOT_CHECK(file.write(std::span(zeros).first(gapAfter(file.size()))));
  }
  return file.finish();
}
