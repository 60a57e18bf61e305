// Elements of every dtype survive the way through JSON bit by bit.
#include "graph/Elements.h"

#include <gtest/gtest.h>

#include <random>

using namespace ingot;
using namespace ingot::graph;

namespace {

constexpr DType kAll[] = {
#define X(name, torchName, bytes, code, safetensorsName, dlpackCode) DType::name,
    INGOT_DTYPES(X)
#undef X
};

bool isNan(const Json &json) {
  if (json.is_array())
    return isNan(json[0]) || isNan(json[1]);
  return json == "nan";
}

TEST(Elements, EveryDTypeKeepsItsBits) {
  std::mt19937 random(7);
  for (DType dtype : kAll) {
    std::vector<std::byte> bytes(256 * byteSize(dtype));
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = byteSize(dtype) == 1 ? std::byte(i) : std::byte(random());
    if (dtype == DType::Bool)
      for (std::byte &byte : bytes)
        byte &= std::byte(1);
    std::vector<int64_t> shape = {2, 128};
    Json lists = nlohmann::ordered_json::parse(elementsAsLists(dtype, shape, bytes).dump());
    EXPECT_EQ(shapeOfLists(dtype, lists), shape) << dtypeName(dtype);
    Result<std::vector<std::byte>> read = elementsFromLists(dtype, shape, lists);
    ASSERT_TRUE(read) << dtypeName(dtype) << ": " << read.error().str();
    for (size_t i = 0; i < 256; ++i) {
      size_t size = byteSize(dtype);
      bool isSame = std::equal(bytes.begin() + i * size, bytes.begin() + (i + 1) * size, read->begin() + i * size);
      EXPECT_TRUE(isSame || isNan(lists[i / 128][i % 128])) << dtypeName(dtype) << " " << i;
    }
  }
}

TEST(Elements, KnownValues) {
  auto read = [](DType dtype, Json value) { return *elementsFromLists(dtype, {}, value); };
  EXPECT_EQ(read(DType::BFloat16, 1.0), (std::vector{std::byte(0x80), std::byte(0x3f)}));
  EXPECT_EQ(read(DType::Float16, -2.0), (std::vector{std::byte(0), std::byte(0xc0)}));
  EXPECT_EQ(read(DType::Float8E4M3FN, 448.0), (std::vector{std::byte(0x7e)}));
  EXPECT_EQ(read(DType::Float8E5M2, "inf"), (std::vector{std::byte(0x7c)}));
  EXPECT_EQ(read(DType::Float8E4M3FNUZ, "nan"), (std::vector{std::byte(0x80)}));
}

TEST(Elements, WrongListsAreRefused) {
  std::vector<int64_t> two = {2}, huge = {int64_t(1) << 60};
  EXPECT_FALSE(elementsFromLists(DType::Int8, two, Json::parse("[1]")));
  EXPECT_FALSE(elementsFromLists(DType::Int8, two, Json::parse("[1, 300]")));
  EXPECT_FALSE(elementsFromLists(DType::Int8, two, Json::parse("[1, 1.5]")));
  EXPECT_FALSE(elementsFromLists(DType::Float32, two, Json::parse("[1, \"one\"]")));
  EXPECT_FALSE(elementsFromLists(DType::Float32, huge, Json::parse("[1]")));
}

} // namespace
