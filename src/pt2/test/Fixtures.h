// Access to test/data and to what tests ask of it again and again.
#pragma once

#include "base/test/TemporaryFolder.h"
#include "pt2/Archive.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot::pt2::test {

inline std::string fixture(const std::string &name) { return std::string(INGOT_PT2_TEST_DATA) + "/" + name + ".pt2"; }

inline Program readFixture(const std::string &name, const ReadOptions &options = {}) {
  Result<Program> program = readProgram(fixture(name), options);
  EXPECT_TRUE(program) << program.error().str();
  return program ? *std::move(program) : Program();
}

/// Reads every byte of every weight, so that sanitizers see spans that are too long.
inline unsigned touchWeights(const Program &program) {
  unsigned sum = 0;
  for (const Storage &storage : program.storages)
    for (std::byte value : storage.bytes)
      sum += static_cast<unsigned>(value);
  return sum;
}

template <typename T> T elementOf(const Weight &weight, std::vector<int64_t> index) {
  int64_t at = weight.storageOffset;
  for (size_t d = 0; d < index.size(); ++d)
    at += index[d] * weight.strides[d];
  return reinterpret_cast<const T *>(weight.storage.data())[at];
}

} // namespace ingot::pt2::test
