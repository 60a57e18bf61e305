// The safetensors format: a JSON header, then raw tensors. Reading is in place, writing streams.
#pragma once

#include "base/DType.h"
#include "base/Result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// One tensor, contiguous in row-major order. When reading, `data` points into the file.
struct SafeTensor {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

struct SafeTensors {
  std::vector<SafeTensor> tensors; ///< sorted by name
  std::map<std::string, std::string> metadata;
  /// Keeps the spans alive; null when the caller owns the bytes.
  std::shared_ptr<const void> memory;

  const SafeTensor *find(std::string_view name) const;
};

Result<SafeTensors> readSafeTensors(const std::string &path);
/// `bytes` must outlive the result.
Result<SafeTensors> parseSafeTensors(std::span<const std::byte> bytes);

/// Elements are aligned. (Those of an asset's weights start at multiples of 64 bytes; what is between them are entries called
/// `__padding__.0` and so on, which our reader hides.)
Status writeSafeTensors(const std::string &path, const std::vector<SafeTensor> &tensors,
                        const std::map<std::string, std::string> &metadata = {});

} // namespace ingot
