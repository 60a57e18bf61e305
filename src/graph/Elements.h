// Elements of tensors as JSON numbers, in every dtype, without losing a bit.
#pragma once

#include "base/DType.h"
#include "base/Result.h"
#include "graph/Document.h"

#include <cstddef>
#include <span>
#include <vector>

namespace ingot::graph {

/// Nested lists in row-major order; complex numbers are pairs, special floats are "nan", "inf" and "-inf".
Json elementsAsLists(DType dtype, std::span<const int64_t> shape, std::span<const std::byte> bytes);

/// The inverse; the lists must have the shape.
Result<std::vector<std::byte>> elementsFromLists(DType dtype, std::span<const int64_t> shape, const Json &lists);

/// The shape of nested lists, for documents that don't say it.
std::vector<int64_t> shapeOfLists(DType dtype, const Json &lists);

} // namespace ingot::graph
