// What this machine can do at best: the lines that profiles are held against.
#pragma once

namespace ingot::cli {

struct MachineLimits {
  double gigaflops = 0;          ///< f32 multiplications and additions, all threads together
  double gigabytesPerSecond = 0; ///< read from memory, all threads together
};

/// Measured, in about a tenth of a second, with as many threads as calls use.
MachineLimits measureMachine();

} // namespace ingot::cli
