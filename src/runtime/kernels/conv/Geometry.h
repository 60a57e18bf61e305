// A convolution over images, or over signals, which are images of one row.
#pragma once

#include "runtime/kernels/conv/Problem.h"

namespace ingot {

/// Rows, panels or patches [begin, end) of a task.
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// The last two spatial dimensions; a signal is an image of one row.
struct Plane {
  int64_t height = 1, width = 1;
};

inline Plane planeOf(std::span<const int64_t> list, int64_t missing) {
  return list.size() == 2 ? Plane{list[0], list[1]} : Plane{missing, list[0]};
}

struct Geometry {
  int64_t images, channels, outChannels;
  Plane in, out, kernel, stride, dilation, low, padded;
  int64_t pixelElements; ///< from pixel to pixel of the padded input

  explicit Geometry(const ConvProblem &problem)
      : images(problem.batch()), channels(problem.inChannels()), outChannels(problem.outChannels()),
        in(planeOf(std::span(problem.x.sizes).subspan(2), 1)),
        out(planeOf(std::span(problem.result.sizes).subspan(2), 1)),
        kernel(planeOf(std::span(problem.weight.sizes).subspan(2), 1)), stride(planeOf(problem.strides, 1)),
        dilation(planeOf(problem.dilations, 1)), low(planeOf(problem.padLow, 0)) {
    const Plane high = planeOf(problem.padHigh, 0);
    padded = {low.height + in.height + high.height, low.width + in.width + high.width};
    pixelElements = channels;
  }

  bool isPadded() const { return padded.height != in.height || padded.width != in.width; }
  /// Every pixel of the input is a row, as it lies.
  bool isPointwise() const {
    return kernel.height == 1 && kernel.width == 1 && stride.height == 1 && stride.width == 1 && !isPadded();
  }
  /// Taps of one row of the kernel read neighbours in memory.
  bool joinsTaps() const { return dilation.width == 1 && pixelElements == channels; }
  int64_t depth() const { return channels * (joinsTaps() ? kernel.width : 1); }
  int64_t rowElements() const { return padded.width * pixelElements; }
  int64_t imageElements() const { return padded.height * rowElements(); }
};

} // namespace ingot
