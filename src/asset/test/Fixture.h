// A scratch folder and a small asset to save into it.
#pragma once

#include "asset/Reader.h"
#include "asset/Writer.h"
#include "base/Bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdlib.h>

namespace ingot::asset::test {

class ScratchTest : public testing::Test {
protected:
  ScratchTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ingot-test-XXXXXX").string();
    scratch = ::mkdtemp(pattern.data());
  }
  ~ScratchTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(scratch, ignored);
  }

  std::string inScratch(const std::string &name) const { return scratch + "/" + name; }

  /// What lies in the scratch folder, hidden or not.
  std::vector<std::string> scratchNames() const {
    std::vector<std::string> names;
    for (const auto &item : std::filesystem::directory_iterator(scratch))
      names.push_back(item.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  std::string scratch;
};

/// Owns what a Content points to.
struct Sample {
  std::vector<float> matrix = std::vector<float>(6 * 5);
  std::vector<int64_t> table = {1, 2, 3};
  std::string program = "not really bytecode";
  Content content;

  explicit Sample(const std::string &torchVersion = "2.13.0") {
    std::iota(matrix.begin(), matrix.end(), 0.f);
    content.manifest.torchVersion = torchVersion;
    EntryPoint entry;
    entry.name = "main";
    entry.inputs = {{.name = "x", .shape = {"s0", "5"}, .state = "x"},
                    {.name = "n", .dtype = DType::Int64, .isScalar = true},
                    {.name = "flag", .literal = "true"}};
    entry.outputs = {{.name = "y", .shape = {"2*s0"}}};
    entry.states = {{.name = "cache", .dtype = DType::Int64, .shape = {"3"}, .weight = "table"},
                    {.name = "x", .shape = {"s0", "5"}}};
    entry.symbols = {{"s0", 1, 64}};
    entry.inSpec = entry.outSpec = "[1, null]";
    content.manifest.entryPoints = {entry};
    content.manifest.weights = {{"a.weight", "a.weight"}, {"b.weight", "a.weight"}, {"table", "table"}};
    content.manifest.opCounts = {{"ingot.matmul", 2}};
    content.program = asBytes(program);
    content.weights = {
        {"a.weight", DType::Float32, {6, 5}, {5, 1}, reinterpret_cast<const std::byte *>(matrix.data())},
        {"table", DType::Int64, {3}, {}, reinterpret_cast<const std::byte *>(table.data())},
    };
  }
};

inline std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void writeText(const std::string &path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

} // namespace ingot::asset::test
