#include "base/Npy.h"

#include "base/Bytes.h"
#include "base/test/TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace ingot;
using namespace ingot::test;

namespace {

std::string fileOf(const std::string &header, const std::string &data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += static_cast<char>(header.size());
  bytes += static_cast<char>(header.size() >> 8);
  if (version > 1)
    bytes += std::string(2, '\0');
  return bytes + header + data;
}

std::string headerOf(const std::string &descr, const std::string &shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
         ", }\n";
}

template <typename T> std::vector<T> valuesOf(const NpyArray &array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

template <typename T> std::string textOf(const std::vector<T> &values) {
  return std::string(asText(std::as_bytes(std::span(values))));
}

TEST(Npy, WritesWhatItReads) {
  TemporaryFolder folder;
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::vector<std::vector<int64_t>> shapes = {{6}, {2, 3}, {1, 6, 1}};
  for (const std::vector<int64_t> &shape : shapes) {
    ASSERT_TRUE(writeNpy(folder.file("x.npy"), DType::Float32, shape, std::as_bytes(std::span(values))));
    Result<NpyArray> array = readNpy(folder.file("x.npy"));
    ASSERT_TRUE(array) << array.error().str();
    EXPECT_EQ(array->dtype, DType::Float32);
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(valuesOf<float>(*array), values);
  }
  float scalar = 2;
  ASSERT_TRUE(writeNpy(folder.file("s.npy"), DType::Float32, {}, std::as_bytes(std::span(&scalar, 1))));
  EXPECT_TRUE(readNpy(folder.file("s.npy"))->shape.empty());
  EXPECT_FALSE(writeNpy(folder.file("x"), DType::Float32, std::vector<int64_t>{7}, std::as_bytes(std::span(values))));
  EXPECT_FALSE(writeNpy(folder.file("x"), DType::Float8E5M2, {}, {}));
}

TEST(Npy, KeepsEveryTypeItKnows) {
  TemporaryFolder folder;
  std::vector<std::byte> data(64);
  for (DType dtype : {DType::Bool, DType::UInt8, DType::Int8, DType::Int16, DType::Int32, DType::Int64, DType::UInt16,
                      DType::UInt32, DType::UInt64, DType::Float16, DType::BFloat16, DType::Float32, DType::Float64,
                      DType::Complex64, DType::Complex128}) {
    std::vector<int64_t> shape = {static_cast<int64_t>(64 / byteSize(dtype))};
    ASSERT_TRUE(writeNpy(folder.file("x"), dtype, shape, data));
    Result<NpyArray> array = readNpy(folder.file("x"));
    ASSERT_TRUE(array) << array.error().str();
    EXPECT_EQ(array->dtype, dtype);
  }
}

TEST(Npy, ConvertsFortranOrder) {
  std::string data = textOf(std::vector<int32_t>{1, 4, 2, 5, 3, 6});
  for (int version : {1, 2, 3}) {
    std::string bytes = fileOf(headerOf("<i4", "(2, 3)", true), data, version);
    Result<NpyArray> array = parseNpy(asBytes(bytes));
    ASSERT_TRUE(array) << array.error().str();
    EXPECT_EQ(valuesOf<int32_t>(*array), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(Npy, RefusesWhatItCannotRead) {
  auto kindOf = [](const std::string &bytes) {
    Result<NpyArray> array = parseNpy(asBytes(bytes));
    return array ? std::optional<ErrorKind>() : array.error().kind;
  };
  EXPECT_EQ(kindOf(fileOf(headerOf(">f4", "(1,)"), "abcd")), ErrorKind::Unsupported);
  EXPECT_EQ(kindOf(fileOf(headerOf("|O", "(1,)"), "abcdefgh")), ErrorKind::Unsupported);
  EXPECT_EQ(kindOf(fileOf(headerOf("<f4", "(2,)"), "abcd")), ErrorKind::Corrupt);
  EXPECT_EQ(kindOf(fileOf(headerOf("<f4", "(-1,)"), "abcd")), ErrorKind::Corrupt);
  EXPECT_EQ(kindOf(fileOf(headerOf("<f4", "(4294967296, 4294967296, 0)"), "")), ErrorKind::Corrupt);
  EXPECT_EQ(kindOf("not numpy at all"), ErrorKind::Corrupt);
  EXPECT_EQ(kindOf(fileOf("{'descr': '<f4'}", "")), ErrorKind::Corrupt);
}

TEST(Npy, SurvivesTruncationAndFlippedBytes) {
  std::string bytes = fileOf(headerOf("<i2", "(2, 2)", true), "abcdefgh");
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(parseNpy(asBytes(std::string_view(bytes).substr(0, length)))) << length;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] ^= static_cast<char>(1 << bit);
      (void)parseNpy(asBytes(damaged));
    }
}

} // namespace
