// When two tensors are the same: by element type, NaN equal to NaN, integers and bools exactly.
#pragma once

#include "verify/Value.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::verify {

/// An element may be off by `absolute` + `relative` * |eager| + `units` * epsilon * the largest |eager| of the tensor.
/// The last is for sums: their rounding is as large as their terms let it be, however small the result.
struct Tolerance {
  double relative = 0, absolute = 0, units = 0;
};

/// That of torch.testing.assert_close, and 16 units (2 for 16-bit floats).
Tolerance toleranceOf(DType dtype);

struct Statistics {
  double min = 0, max = 0, mean = 0; ///< of what is finite; of absolute values for complex numbers
  int64_t nans = 0, infinities = 0;
  std::vector<std::string> first; ///< at most 8 elements
};
Statistics statisticsOf(const Value &value);

struct Difference {
  std::string problem; ///< dtype or shape, in words; then nothing else is compared
  int64_t count = 0;   ///< elements beyond the tolerance
  double ratio = 0;    ///< largest difference in units of what is allowed; infinite where nothing is
  double largest = 0;  ///< difference of that element
  std::vector<int64_t> where;
  std::string eager, ours; ///< that element

  bool departs() const { return !problem.empty() || count > 0; }
};

/// `scale` widens the tolerance of floats: by how much errors of earlier nodes are known to have grown.
Difference compare(const Value &eager, const Value &ours, std::optional<Tolerance> tolerance = std::nullopt,
                   double scale = 1);

/// "[2, 3]"
std::string shapeText(const std::vector<int64_t> &shape);
/// "float32 [2, 3]"
std::string typeText(const Value &value);

} // namespace ingot::verify
