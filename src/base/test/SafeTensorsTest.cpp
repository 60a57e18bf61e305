#include "base/SafeTensors.h"

#include "base/Bytes.h"
#include "base/test/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace ingot;
using namespace ingot::test;

namespace {

std::string fileOf(std::string header, size_t dataSize) {
  uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char *>(&length), 8);
  return bytes + header + std::string(dataSize, '\1');
}

std::string failureOf(const std::string &bytes) {
  Result<SafeTensors> file = parseSafeTensors(asBytes(bytes));
  return file ? "" : file.error().str();
}

std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return "{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":" + std::string(shape) +
         ",\"data_offsets\":" + std::string(offsets) + "}";
}

TEST(SafeTensors, WritesWhatItReads) {
  TemporaryFolder folder;
  std::vector<float> floats(7);
  std::iota(floats.begin(), floats.end(), 0.f);
  std::vector<int64_t> integers = {1, 2, 3, 4, 5, 6};
  std::vector<SafeTensor> tensors = {
      {"b.weight", DType::Float32, {7}, std::as_bytes(std::span(floats))},
      {"empty", DType::BFloat16, {0, 3}, {}},
      {"a", DType::Int64, {2, 3}, std::as_bytes(std::span(integers))},
      {"scalar", DType::Bool, {}, std::as_bytes(std::span("x", 1))},
  };
  std::string path = folder.file("x.safetensors");
  Status status = writeSafeTensors(path, tensors, {{"format", "pt"}});
  ASSERT_TRUE(status) << status.error().str();
  Result<SafeTensors> file = readSafeTensors(path);
  ASSERT_TRUE(file) << file.error().str();
  EXPECT_EQ(file->metadata.at("format"), "pt");
  ASSERT_EQ(file->tensors.size(), 4u);
  for (const SafeTensor &wanted : tensors) {
    const SafeTensor *found = file->find(wanted.name);
    ASSERT_TRUE(found) << wanted.name;
    EXPECT_EQ(found->dtype, wanted.dtype);
    EXPECT_EQ(found->shape, wanted.shape);
    EXPECT_TRUE(std::ranges::equal(found->data, wanted.data)) << wanted.name;
    if (!found->data.empty())
      EXPECT_EQ(reinterpret_cast<uintptr_t>(found->data.data()) % byteSize(wanted.dtype), 0u) << wanted.name;
  }
  EXPECT_EQ(folder.entryCount(), 1u);
  EXPECT_EQ(readFile(path).find("__padding__"), std::string::npos) << "other readers would show it";
}

TEST(SafeTensors, WritesAnEmptyFile) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeSafeTensors(folder.file("x"), {}));
  Result<SafeTensors> file = readSafeTensors(folder.file("x"));
  ASSERT_TRUE(file) << file.error().str();
  EXPECT_TRUE(file->tensors.empty());
}

TEST(SafeTensors, RefusesToWriteNonsense) {
  TemporaryFolder folder;
  std::vector<float> floats(2);
  SafeTensor good{"x", DType::Float32, {2}, std::as_bytes(std::span(floats))};
  SafeTensor wrongShape = good, reserved = good;
  wrongShape.shape = {3};
  reserved.name = "__metadata__";
  EXPECT_FALSE(writeSafeTensors(folder.file("x"), {good, good}));
  EXPECT_FALSE(writeSafeTensors(folder.file("x"), {wrongShape}));
  EXPECT_FALSE(writeSafeTensors(folder.file("x"), {reserved}));
  EXPECT_EQ(folder.entryCount(), 0u);
  EXPECT_FALSE(writeSafeTensors(folder.file("missing/x"), {good}));
}

TEST(SafeTensors, RefusesBadHeaders) {
  EXPECT_NE(failureOf(""), "");
  EXPECT_NE(failureOf(std::string(8, '\xff')), "");
  EXPECT_NE(failureOf(fileOf("[]", 0)), "");
  EXPECT_NE(failureOf(fileOf("{\"a\":1}", 0)), "");
  std::string good = entry("F32", "[1]", "[0,4]");
  EXPECT_EQ(failureOf(fileOf("{\"a\":" + good + "}", 4)), "");
  EXPECT_NE(failureOf(fileOf("{\"a\":" + good + ",\"a\":" + good + "}", 4)).find("twice"), std::string::npos);
  EXPECT_NE(failureOf(fileOf("{\"a\":" + good + "}", 5)).find("unused"), std::string::npos);
  EXPECT_NE(failureOf(fileOf("{\"a\":" + good + "}", 3)).find("outside"), std::string::npos);
}

TEST(SafeTensors, RefusesBadEntries) {
  auto failure = [](std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return failureOf(fileOf("{\"a\":" + entry(dtype, shape, offsets) + "}", 8));
  };
  EXPECT_EQ(failure("F32", "[2]", "[0,8]"), "");
  EXPECT_NE(failure("F4", "[2]", "[0,8]"), "");
  EXPECT_NE(failure("F32", "[3]", "[0,8]"), "");
  EXPECT_NE(failure("F32", "[-2]", "[0,8]"), "");
  EXPECT_NE(failure("F32", "[2]", "[8,0]"), "");
  EXPECT_NE(failure("F32", "[2]", "[0]"), "");
  EXPECT_NE(failure("F32", "[4294967296,4294967296]", "[0,8]"), "");
  EXPECT_NE(failure("F32", "[4611686018427387904]", "[0,8]"), "");
  EXPECT_NE(failure("F32", "[2.0]", "[0,8]"), "");
}

TEST(SafeTensors, RefusesOverlapAndHoles) {
  std::string first = "{\"a\":" + entry("U8", "[4]", "[0,4]") + ",\"b\":";
  EXPECT_EQ(failureOf(fileOf(first + entry("U8", "[4]", "[4,8]") + "}", 8)), "");
  EXPECT_NE(failureOf(fileOf(first + entry("U8", "[4]", "[3,7]") + "}", 8)).find("overlaps"), std::string::npos);
  EXPECT_NE(failureOf(fileOf(first + entry("U8", "[3]", "[5,8]") + "}", 8)).find("unused"), std::string::npos);
}

TEST(SafeTensors, SurvivesTruncationAndFlippedBytes) {
  std::string bytes = fileOf("{\"__metadata__\":{\"k\":\"v\"},\"a\":" + entry("F32", "[2]", "[0,8]") +
                                 ",\"b\":" + entry("I64", "[1,1]", "[8,16]") + "}",
                             16);
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(failureOf(bytes.substr(0, length)), "") << length;
  for (size_t at = 0; at < bytes.size() - 16; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] ^= static_cast<char>(1 << bit);
      (void)failureOf(damaged);
    }
}

} // namespace
