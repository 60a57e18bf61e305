#include "runtime/kernels/gemm/Panels.h"

#include <gtest/gtest.h>
#include <numeric>

namespace ingot::test {
namespace {

TEST(Panels, HoldColumnsSideBySide) {
  for (int64_t depth : {1, 15, 16, 35, 64})
    for (int64_t columns : {1, 31, 32, 70, 96})
      for (bool isTransposed : {false, true})
        for (float factor : {1.0f, 0.5f}) {
          std::vector<float> from(static_cast<size_t>(depth * columns));
          std::iota(from.begin(), from.end(), 1.0f);
          const int64_t depthStride = isTransposed ? 1 : columns, columnStride = isTransposed ? depth : 1;
          std::vector<float> panels(static_cast<size_t>(gemm::panelElements(depth, columns)), -1.0f);
          gemm::packPanels(panels.data(), from.data(), depth, depthStride, columns, columnStride, factor);
          for (int64_t column = 0; column < (columns + gemm::kPanel - 1) / gemm::kPanel * gemm::kPanel; ++column)
            for (int64_t k = 0; k < depth; ++k) {
              const float wanted =
                  column < columns ? from[static_cast<size_t>(k * depthStride + column * columnStride)] * factor : 0.0f;
              const auto at =
                  static_cast<size_t>((column / gemm::kPanel * depth + k) * gemm::kPanel + column % gemm::kPanel);
              ASSERT_EQ(panels[at], wanted) << depth << " " << columns << " " << column << " " << k;
            }
        }
}

TEST(Panels, FollowTheTapsOfAFilter) {
  // [columns, channels, taps] in memory; rows of the panel are taps, then channels.
  for (int64_t taps : {1, 3, 9})
    for (int64_t channels : {2, 5, 32})
      for (int64_t columns : {32, 40}) {
        const int64_t depth = taps * channels;
        std::vector<float> from(static_cast<size_t>(columns * depth));
        std::iota(from.begin(), from.end(), 1.0f);
        const gemm::Panels panels({from.data(), {taps, channels}, {1, taps}, columns, depth});
        for (int64_t column = 0; column < columns; ++column)
          for (int64_t row = 0; row < depth; ++row)
            ASSERT_EQ(panels.view().panel(column / gemm::kPanel)[row * gemm::kPanel + column % gemm::kPanel],
                      from[static_cast<size_t>(column * depth + row / channels + row % channels * taps)])
                << taps << " " << channels << " " << column << " " << row;
      }
}

} // namespace
} // namespace ingot::test
