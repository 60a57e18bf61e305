// Loops over several tensors of one shape (after broadcasting), whatever their strides.
#pragma once

#include "runtime/Kernel.h"
#include "runtime/kernels/view/StridedCopy.h"

#include <array>

namespace ingot {

/// The loop nest: dimensions in the first tensor's memory order, merged where every tensor allows it.
class StridedLoop {
public:
  static constexpr size_t kMaxTensors = 4;

  /// `tensors[0]` is the result; the others broadcast to its sizes. Strides become bytes.
  static StridedLoop make(std::span<const TensorDesc *const> tensors);

  using Pointers = std::array<char *, kMaxTensors>;
  using Strides = std::array<int64_t, kMaxTensors>;

  int64_t rows() const { return rowCount; }
  int64_t rowLength() const { return dims.empty() ? 1 : dims.back().size; }

  /// row(count, pointers, strides) for rows [begin, end).
  template <typename F> void run(const Pointers &base, int64_t begin, int64_t end, F &&row) const {
    const Strides strides = dims.empty() ? Strides{} : dims.back().strides;
    for (int64_t i = begin; i < end; ++i)
      row(rowLength(), rowPointers(base, i), strides);
  }

  int64_t count() const { return rowCount * rowLength(); }
  /// Pointers to element `index`, in the loop's order.
  Pointers at(const Pointers &base, int64_t index) const;

private:
  struct Dim {
    int64_t size;
    Strides strides;
  };

  Pointers rowPointers(Pointers base, int64_t row) const;

  std::vector<Dim> dims; ///< outermost first
  int64_t rowCount = 1;
};

/// The copy of a tensor, broadcast to the result's sizes, into the result's layout.
StridedCopy makeCopy(const TensorDesc &result, const TensorDesc &source);

} // namespace ingot
