// Clusters to machine code. Every `ingot.cluster` becomes one function of a shared library that the
// runtime opens; clusters that differ in sizes only share a function. Kernels that the user has written, `ingot.custom`,
// are compiled by clang into the same library (Custom.h).
//
// void k(void *const *pointers, int64_t n0, int64_t n1, const int64_t *strides0, const int64_t *strides1)
//
// `pointers` are the cluster's operands, then its results; strides count elements. The function visits
// i0 < n0 and i1 < n1 and finds element (i0, i1) of pointer p at p + i0 * strides0[p] + i1 * strides1[p].
// In a cluster that reduces, i1 runs over all reduced dimensions and a call sees whole rows. A result may
// lie in the memory of an operand that has the same elements at the same places; other overlaps are not allowed.
#pragma once

#include "base/Result.h"
#include "codegen/TargetCpu.h"

#include <string>
#include <vector>

#include <mlir/IR/BuiltinOps.h>

namespace ingot::codegen {

/// Discardable attributes that compileClusters sets on clusters, for the runtime.
inline constexpr const char *kReduceAttr = "reduce";          ///< bool: the cluster reduces its last dimensions
inline constexpr const char *kReduceRankAttr = "reduce_rank"; ///< i64: how many of them; 0 when it does not

struct CompiledKernels {
  std::string library;              ///< bytes of the shared library; empty when there is nothing to compile
  std::vector<std::string> symbols; ///< its functions, sorted
};

/// Compiles all clusters and custom kernels of `module` for `target`, and sets their `symbol`; of clusters also `reduce`
/// and `reduce_rank`.
Result<CompiledKernels> compileClusters(mlir::ModuleOp module, const TargetCpu &target);

} // namespace ingot::codegen
