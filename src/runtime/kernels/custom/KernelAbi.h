// How the runtime calls a kernel that the user has written; docs/kernels.md describes it. The source of a kernel has
// these declarations in itself (python/ingot/_kernel_source.py), so that it can be compiled anywhere: keep them equal.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct ingot_kernel_argument {
  void *data;             ///< of a tensor; of a number the address of its int64_t, double or bool
  const int64_t *sizes;   ///< one a dimension
  const int64_t *strides; ///< in elements
  int64_t rank;
};

/// 0, or another number after writing why to `message`, at most `capacity` bytes.
using ingot_kernel_function = int32_t (*)(const ingot_kernel_argument *inputs, const ingot_kernel_argument *results,
                                          char *message, size_t capacity);
}
