// Tensors that are compared.
#pragma once

#include "base/DType.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ingot::verify {

/// Contiguous. `memory` keeps `data` alive.
struct Value {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
  std::shared_ptr<const void> memory;
};

using Values = std::map<std::string, Value, std::less<>>;

} // namespace ingot::verify
