// What the kernels that work along one dimension of a contiguous tensor share.
#pragma once

#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"
#include "runtime/threads/Pool.h"

#include <algorithm>

namespace ingot {

/// A contiguous tensor as lines of `length` elements, `inner` apart.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;
  std::vector<int64_t> sizes;
  size_t axis = 0;

  int64_t count() const { return outer * inner; }
  /// The first element of a line in a tensor whose lines have `lineLength` elements.
  int64_t start(int64_t line, int64_t lineLength) const { return line / inner * lineLength * inner + line % inner; }
  /// The sizes with another length of the lines.
  std::vector<int64_t> sizesWith(int64_t lineLength) const;

  /// each(line) for every line, spread over threads by the work that a line is.
  template <typename F> void run(F each) const {
    const int64_t work = std::max<int64_t>(1, length) * 4;
    parallelFor(0, count(), std::max<int64_t>(1, 16384 / work), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line)
        each(line);
    });
  }
};

/// Of operand 0, by the attribute `axis`.
Result<Lines> linesOf(const StepContext &context);

/// Values of operand 0's element type and int64 positions, both of `sizes`.
Result<std::vector<ResultDesc>> valuesAndPositions(const StepContext &context, const std::vector<int64_t> &sizes);

/// NaN is larger than every number.
template <typename C> bool isLess(C a, C b) { return a < b || (b != b && a == a); }
template <typename C> bool isGreater(C a, C b) { return isLess(b, a); }

/// Memory for a result whose size depends on the data, zeroed.
Result<EvaluatedResult> evaluatedResult(const StepContext &context, DType dtype, std::vector<int64_t> sizes);

} // namespace ingot
