// Right-hand sides of products, rearranged: panels of 32 columns, each row of a panel beside the next.
#pragma once

#include "base/DType.h"
#include "runtime/kernels/gemm/PanelUse.h"
#include "runtime/kernels/gemm/Tile.h"

#include <memory>
#include <span>
#include <vector>

namespace ingot::gemm {

/// What one element of a row or a panel is: a float, a pair of bfloat16 (Pairs.h) or a quad of int8 (Quads.h) that are neighbours in depth.
enum class Packing : uint8_t { Single, Pairs, Quads };

/// Panels in somebody's memory.
struct PanelView {
  const float *data = nullptr;
  int64_t depth = 0, columns = 0; ///< depth counts pairs or quads
  Packing packing = Packing::Single;
  const float *scales = nullptr; ///< quads: of all columns of all panels
  const int32_t *sums = nullptr; ///< quads: of the same

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
  /// The last of several sizes of depth is a multiple of what a pair or a quad has.
  Packing packing = Packing::Single;

  /// Elements from the first to the last.
  int64_t reach() const;
  /// Of the panels: pairs or quads, or elements of transformed filters.
  int64_t packedDepth() const;
  bool operator==(const PanelSource &) const = default;
};

/// How panels lie in memory. Count it up with every change: panels are kept in files (runtime/Packed.h).
inline constexpr int kPanelsFormat = 1;

/// Bytes of the panels that are made of a source.
size_t blockBytesOf(const PanelSource &source);

/// Panels of a constant: one block of memory, with the scales and sums of quads behind them.
class Panels {
public:
  explicit Panels(const PanelSource &source);
  /// Those that were made from such a source before, whose block is in a file.
  Panels(const PanelSource &source, const std::shared_ptr<PanelFile> &file, const std::byte *block, bool isFinite);

  PanelView view() const;
  std::span<const float> block() const { return {data.get(), blockBytes() / sizeof(float)}; }
  size_t blockBytes() const;
  /// Null where the block is in memory of our own.
  MappedBlock *mappedBlock() const { return mapped.get(); }
  /// Neither infinities nor NaN.
  bool isFinite() const { return hasNumbersOnly; }

private:
  void pack(const PanelSource &source, float *block);

  int64_t depth, columns;
  Packing packing;
  std::shared_ptr<const float> data;
  std::unique_ptr<MappedBlock> mapped;
  bool hasNumbersOnly = true;
};

/// Bindings of one program share panels: they are found by what they were made from while somebody uses them.
std::shared_ptr<const Panels> sharedPanels(const PanelSource &source);
/// Lets sharedPanels find these, unless there are such already.
void offerPanels(const PanelSource &source, const std::shared_ptr<const Panels> &panels);

struct PanelsInUse {
  PanelSource source;
  std::shared_ptr<const Panels> panels;
};
/// Those that were made from something in this memory.
std::vector<PanelsInUse> panelsMadeFrom(std::span<const std::byte> memory);

} // namespace ingot::gemm
