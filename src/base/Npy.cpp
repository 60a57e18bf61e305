#include "base/Npy.h"

#include "base/AtomicWrite.h"
#include "base/Bytes.h"
#include "base/MappedFile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

using namespace ingot;

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

struct TypeCode {
  DType dtype;
  std::string_view code; ///< kind and byte count, without the byte-order mark
};

// NumPy knows no bfloat16; ml_dtypes writes it as a two-byte void.
constexpr TypeCode typeCodes[] = {
    {DType::Bool, "b1"},      {DType::UInt8, "u1"},       {DType::Int8, "i1"},     {DType::Int16, "i2"},
    {DType::Int32, "i4"},     {DType::Int64, "i8"},       {DType::UInt16, "u2"},   {DType::UInt32, "u4"},
    {DType::UInt64, "u8"},    {DType::Float16, "f2"},     {DType::Float32, "f4"},  {DType::Float64, "f8"},
    {DType::Complex64, "c8"}, {DType::Complex128, "c16"}, {DType::BFloat16, "V2"},
};

/// Reads the header's Python dictionary: three known keys, in any order.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  Status parse() {
    if (!take('{'))
      return bad();
    while (!take('}')) {
      std::optional<std::string_view> key = quoted();
      if (!key || !take(':') || !value(*key))
        return bad();
      if (!take(',') && !peek('}'))
        return bad();
    }
    skipBlanks();
    if (!rest.empty() || seen != 7)
      return bad();
    return {};
  }

  std::string_view descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;

private:
  static Error bad() { return corruptError("npy: malformed header"); }

  void skipBlanks() { rest.remove_prefix(std::min(rest.find_first_not_of(" \n\t"), rest.size())); }
  bool peek(char c) {
    skipBlanks();
    return rest.starts_with(c);
  }
  bool take(char c) {
    if (!peek(c))
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool takeWord(std::string_view word) {
    skipBlanks();
    if (!rest.starts_with(word))
      return false;
    rest.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> quoted() {
    for (char quote : {'\'', '"'}) {
      if (!take(quote))
        continue;
      size_t end = rest.find(quote);
      if (end == rest.npos)
        return std::nullopt;
      std::string_view text = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      return text;
    }
    return std::nullopt;
  }
  bool value(std::string_view key) {
    if (key == "descr") {
      seen |= 1;
      std::optional<std::string_view> text = quoted();
      descr = text.value_or("");
      return text.has_value();
    }
    if (key == "fortran_order") {
      seen |= 2;
      fortranOrder = takeWord("True");
      return fortranOrder || takeWord("False");
    }
    seen |= 4;
    return key == "shape" && tuple();
  }
  bool tuple() {
    if (!take('(') || !shape.empty())
      return false;
    while (!take(')')) {
      skipBlanks();
      int64_t size = 0;
      auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
      if (failure != std::errc() || size < 0)
        return false;
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      shape.push_back(size);
      if (!take(',') && !peek(')'))
        return false;
    }
    return true;
  }

  std::string_view rest;
  unsigned seen = 0;
};

Result<DType> readDescr(std::string_view descr) {
  if (descr.size() < 3)
    return unsupportedError("npy: unknown element type '" + std::string(descr) + "'");
  bool isSingleByte = descr.substr(2) == "1";
  if (descr[0] == '>' && !isSingleByte)
    return unsupportedError("npy: big-endian data; save it again with array.astype('<f4') or so");
  for (const TypeCode &row : typeCodes)
    if (descr.substr(1) == row.code && std::string_view("<|=>").find(descr[0]) != std::string_view::npos)
      return row.dtype;
  return unsupportedError("npy: unknown element type '" + std::string(descr) + "'");
}

/// Copies column-major data into row-major order, counting indices like an odometer.
void fromFortranOrder(std::span<const std::byte> source, std::span<const int64_t> shape, size_t elementSize,
                      std::span<std::byte> target) {
  std::vector<int64_t> index(shape.size()), stride(shape.size());
  int64_t step = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    stride[d] = step;
    step *= shape[d];
  }
  int64_t from = 0;
  for (size_t at = 0; at < target.size(); at += elementSize) {
    std::memcpy(target.data() + at, source.data() + static_cast<size_t>(from) * elementSize, elementSize);
    for (size_t d = shape.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < shape[d])
        break;
      from -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
}

/// The header's text and where the data begins.
Result<std::pair<std::string_view, size_t>> splitHeader(std::span<const std::byte> bytes) {
  if (!asText(bytes).starts_with(magic) || bytes.size() < 10)
    return corruptError("npy: not a .npy file");
  uint8_t major = loadLittle<uint8_t>(bytes, 6);
  if (major < 1 || major > 3)
    return unsupportedError("npy: unknown version " + std::to_string(major));
  // Version 1 counts the header in 16 bits, later ones in 32.
  size_t begin = major == 1 ? 10 : 12;
  if (bytes.size() < begin)
    return corruptError("npy: the file is truncated");
  size_t length = major == 1 ? loadLittle<uint16_t>(bytes, 8) : loadLittle<uint32_t>(bytes, 8);
  if (!fitsIn(begin, length, bytes.size()))
    return corruptError("npy: the file is truncated");
  return std::pair(asText(bytes.subspan(begin, length)), begin + length);
}

} // namespace

Result<NpyArray> ingot::parseNpy(std::span<const std::byte> bytes) {
  INGOT_TRY(auto split, splitHeader(bytes));
  HeaderParser header(split.first);
  INGOT_CHECK(header.parse());
  NpyArray array;
  INGOT_TRY(array.dtype, readDescr(header.descr));
  array.shape = header.shape;
  std::optional<int64_t> count = checkedElementCount(array.shape);
  size_t elementSize = byteSize(array.dtype);
  std::span<const std::byte> data = bytes.subspan(split.second);
  if (!count || static_cast<uint64_t>(*count) != data.size() / elementSize || data.size() % elementSize != 0)
    return corruptError("npy: the data does not fit the shape; the file may be truncated");
  array.data.resize(data.size());
  if (header.fortranOrder && !data.empty())
    fromFortranOrder(data, array.shape, elementSize, array.data);
  else
    std::ranges::copy(data, array.data.begin());
  return array;
}

Result<NpyArray> ingot::readNpy(const std::string &path) {
  INGOT_TRY(auto file, MappedFile::open(path));
  Result<NpyArray> array = parseNpy(file->bytes());
  if (!array)
    return std::move(array.error()).note("while reading '" + path + "'");
  return array;
}

Status ingot::writeNpy(const std::string &path, DType dtype, std::span<const int64_t> shape,
                       std::span<const std::byte> data) {
  auto row = std::ranges::find(typeCodes, dtype, &TypeCode::dtype);
  if (row == std::end(typeCodes))
    return unsupportedError("npy: NumPy has no type for " + std::string(dtypeName(dtype)));
  std::optional<int64_t> count = checkedElementCount(shape);
  if (!count || data.size() % byteSize(dtype) != 0 || data.size() / byteSize(dtype) != static_cast<uint64_t>(*count))
    return usageError("npy: the data does not fit the shape");
  std::string header = "{'descr': '";
  header += byteSize(dtype) == 1 ? '|' : '<';
  header += std::string(row->code) + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape)
    header += std::to_string(size) + ",";
  header += "), }";
  // Version 2 is needed for headers over 64 KB only: thousands of dimensions. Data starts aligned.
  header.append(-(10 + header.size() + 1) % 64, ' ');
  header += '\n';
  if (header.size() > 0xffff)
    return unsupportedError("npy: too many dimensions");
  uint16_t length = static_cast<uint16_t>(header.size());
  INGOT_TRY(AtomicFile file, AtomicFile::create(path, AtomicFile::Links::Follow));
  INGOT_CHECK(file.write(magic));
  INGOT_CHECK(file.write(std::string_view("\x01\x00", 2)));
  INGOT_CHECK(file.write(std::as_bytes(std::span(&length, 1))));
  INGOT_CHECK(file.write(header));
  INGOT_CHECK(file.write(data));
  return file.commit();
}
