#include "runtime/kernels/resize/Resize.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

/// Input positions per result position. A scale of 0 was not given.
template <typename T> T stepFor(double scale, int64_t in, int64_t out) {
  return scale > 0 ? static_cast<T>(1.0 / scale) : static_cast<T>(in) / static_cast<T>(out);
}

/// floor of a coordinate, kept inside the dimension: coordinates may be infinite for silly scales.
template <typename T> int64_t floorInside(T coordinate, int64_t in) {
  if (!(coordinate > T(-1e9)))
    return -1000000000;
  return coordinate >= static_cast<T>(in) ? in - 1 : std::min(static_cast<int64_t>(std::floor(coordinate)), in - 1);
}

int64_t nearest(ResizeMode mode, double scale, int64_t in, int64_t out, int64_t position) {
  if (in == out && mode == ResizeMode::Nearest)
    return position;
  const auto step = stepFor<float>(scale, in, out);
  // As PyTorch: the exact mode adds a half in double.
  const float coordinate = mode == ResizeMode::Nearest
                               ? static_cast<float>(position) * step
                               : static_cast<float>((static_cast<double>(position) + 0.5) * static_cast<double>(step));
  return std::max<int64_t>(0, floorInside(coordinate, in));
}

template <typename T> T sourceCoordinate(bool alignCorners, bool isCubic, T step, int64_t position) {
  if (alignCorners)
    return step * static_cast<T>(position);
  const T coordinate = step * (static_cast<T>(position) + T(0.5)) - T(0.5);
  return !isCubic && coordinate < T(0) ? T(0) : coordinate;
}

/// Keys' kernel with a = -0.75, at distances 1 + t, t, 1 - t and 2 - t.
template <typename T> std::array<T, 4> cubicWeights(T t) {
  constexpr T a = T(-0.75);
  auto near = [](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

template <typename T>
ResizeTable interpolationTable(bool isCubic, bool alignCorners, double scale, int64_t in, int64_t out) {
  ResizeTable table;
  table.taps = isCubic ? 4 : 2;
  T step = stepFor<T>(scale, in, out);
  if (alignCorners)
    step = out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T(0);
  for (int64_t position = 0; position < out; ++position) {
    T coordinate = sourceCoordinate(alignCorners, isCubic, step, position);
    if (in == out && !isCubic)
      coordinate = static_cast<T>(position);
    const int64_t index = floorInside(coordinate, in);
    const T t = std::clamp(coordinate - static_cast<T>(index), T(0), T(1));
    if (!isCubic) {
      table.positions.insert(table.positions.end(), {index, index + (index < in - 1 ? 1 : 0)});
      table.weights.insert(table.weights.end(), {static_cast<double>(T(1) - t), static_cast<double>(t)});
      continue;
    }
    const std::array<T, 4> weights = cubicWeights(t);
    for (int64_t i = 0; i < 4; ++i) {
      table.positions.push_back(std::clamp<int64_t>(index - 1 + i, 0, in - 1));
      table.weights.push_back(static_cast<double>(weights[static_cast<size_t>(i)]));
    }
  }
  return table;
}

} // namespace

ResizeTable makeResizeTable(ResizeMode mode, bool alignCorners, double scale, int64_t in, int64_t out, bool isDouble) {
  if (mode == ResizeMode::Linear || mode == ResizeMode::Cubic) {
    const bool isCubic = mode == ResizeMode::Cubic;
    return isDouble ? interpolationTable<double>(isCubic, alignCorners, scale, in, out)
                    : interpolationTable<float>(isCubic, alignCorners, scale, in, out);
  }
  ResizeTable table;
  for (int64_t position = 0; position < out; ++position)
    table.positions.push_back(nearest(mode, scale, in, out, position));
  table.weights.assign(table.positions.size(), 1.0);
  return table;
}

} // namespace ingot
