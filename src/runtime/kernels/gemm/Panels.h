// Constant right-hand sides of products, rearranged: panels of 32 columns, each row of a panel beside the next.
#pragma once

#include "runtime/kernels/gemm/Tile.h"

#include <memory>
#include <vector>

namespace ingot::gemm {

/// Where the elements of the original are: `depth` may have several dimensions (taps of a convolution, then channels).
struct PanelSource {
  const float *data = nullptr;
  std::vector<int64_t> depthSizes, depthStrides;
  int64_t columns = 0, columnStride = 0;

  bool operator==(const PanelSource &) const = default;
};

class Panels {
public:
  explicit Panels(const PanelSource &source);

  int64_t depth() const { return rows; }
  int64_t columns() const { return width; }
  int64_t count() const { return (width + kPanel - 1) / kPanel; }
  const float *panel(int64_t index) const { return data.get() + index * rows * kPanel; }

private:
  int64_t rows = 0, width = 0;
  std::shared_ptr<float> data;
};

/// Bindings of one program share panels: they are found by what they were made from while somebody uses them.
std::shared_ptr<const Panels> sharedPanels(const PanelSource &source);

} // namespace ingot::gemm
