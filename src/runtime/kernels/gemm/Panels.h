// Right-hand sides of products, rearranged: panels of 32 columns, each row of a panel beside the next.
#pragma once

#include "base/DType.h"
#include "runtime/kernels/gemm/Tile.h"

#include <memory>
#include <vector>

namespace ingot::gemm {

/// Panels in somebody's memory.
struct PanelView {
  const float *data = nullptr;
  int64_t depth = 0, columns = 0;
  bool isPaired = false; ///< pairs of bfloat16 (Pairs.h); depth counts them

  int64_t count() const { return (columns + kPanel - 1) / kPanel; }
  const float *panel(int64_t index) const { return data + index * depth * kPanel; }
};

/// Floats that `columns` of `depth` take as panels, with what tiles fetch behind them.
int64_t panelElements(int64_t depth, int64_t columns);

/// A matrix with any strides becomes panels at `to`, multiplied by `factor`.
void packPanels(float *to, const float *from, int64_t depth, int64_t depthStride, int64_t columns, int64_t columnStride,
                float factor = 1);

/// Where the elements of the original are: `depth` may have several dimensions (taps of a convolution, then channels).
struct PanelSource {
  const void *data = nullptr;
  std::vector<int64_t> depthSizes, depthStrides;
  int64_t columns = 0, columnStride = 0;
  /// For filters [3, 3, channels]: the panels hold their sixteen transformed elements instead (conv/Winograd.cpp).
  bool isTransformed = false;
  DType dtype = DType::Float32; ///< float16 and bfloat16 become float32; not of filters
  bool isPaired = false;        ///< becomes pairs of bfloat16; the last of several sizes of depth is even then

  /// Elements from the first to the last.
  int64_t reach() const;
  bool operator==(const PanelSource &) const = default;
};

/// Panels of a constant.
class Panels {
public:
  explicit Panels(const PanelSource &source);

  PanelView view() const { return {data.get(), depth, columns, isPaired}; }
  /// Neither infinities nor NaN.
  bool isFinite() const { return hasNumbersOnly; }

private:
  int64_t depth = 0, columns = 0;
  std::shared_ptr<float> data;
  bool hasNumbersOnly = true, isPaired = false;
};

/// Bindings of one program share panels: they are found by what they were made from while somebody uses them.
std::shared_ptr<const Panels> sharedPanels(const PanelSource &source);

} // namespace ingot::gemm
