// NumPy's .npy files, versions 1 to 3, little endian.
#pragma once

#include "base/DType.h"
#include "base/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ingot {

struct NpyArray {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data; ///< row-major, whatever the file's order was
};

Result<NpyArray> readNpy(const std::string &path);
Result<NpyArray> parseNpy(std::span<const std::byte> bytes);

/// `data` is row-major. bfloat16 is written as two-byte records, as ml_dtypes does.
Status writeNpy(const std::string &path, DType dtype, std::span<const int64_t> shape, std::span<const std::byte> data);

} // namespace ingot
