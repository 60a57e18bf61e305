// Tensors that Python keeps alive during a conversion.
#pragma once

#include "base/DType.h"
#include "runtime/CompilerApi.h"

#include <string>
#include <vector>

namespace ingot::bind {

struct WeightRef {
  std::string name;
  bool isConstant = false, isParameter = false;
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes, strides;
  int64_t storageOffset = 0;
  uintptr_t storage = 0;
  size_t storageBytes = 0;

  WeightRef(std::string name, bool isConstant, bool isParameter, const std::string &dtypeName,
            std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t storageOffset, uintptr_t storage,
            size_t storageBytes);
  CompilerWeight view() const;
};

std::vector<CompilerWeight> views(const std::vector<const WeightRef *> &weights);

} // namespace ingot::bind
