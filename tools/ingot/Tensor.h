// Tensors on their way between files and the C interface.
#pragma once

#include "asset/Format.h"
#include "base/DType.h"
#include "base/Result.h"
#include "ingot/ingot.h"
#include "verify/Value.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace ingot::cli {

using Tensor = verify::Value;

/// A tensor that owns zeroed memory, and a pointer to write it through.
struct NewTensor {
  Tensor tensor;
  std::byte *bytes = nullptr;
};
Result<NewTensor> makeTensor(DType dtype, std::vector<int64_t> shape);

/// A contiguous copy, or a view if it is contiguous already; then `result` must outlive it.
Result<Tensor> fromResult(const ingot_tensor &tensor);

/// Normal floats, integers and bools 0 or 1: safe as token ids, indices and masks alike.
Result<Tensor> randomTensor(DType dtype, std::vector<int64_t> shape, std::mt19937_64 &random);

struct Statistics {
  double min = 0, max = 0, mean = 0;
};
/// Nothing for empty tensors and types without an order (complex) or without a plain encoding (8-bit floats).
std::optional<Statistics> statisticsOf(const Tensor &tensor);

} // namespace ingot::cli
