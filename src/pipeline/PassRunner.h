// Runs the passes of one phase: named, timed, verified, each of them optional by name.
#pragma once

#include "pipeline/Pipeline.h"

#include <mlir/IR/BuiltinOps.h>
#include <mlir/Pass/Pass.h>

namespace ingot {

/// Checks that options name existing passes, none of them required.
Status checkOptions(const PipelineOptions &options);

/// Runs all passes of `phase` in order, then dumps the module if asked.
Status runPhase(Phase phase, mlir::ModuleOp module, const PipelineOptions &options);

/// Writes NN-name.mlir to options.dumpFolder; does nothing when that is empty.
Status dumpModule(Phase phase, mlir::ModuleOp module, const PipelineOptions &options);

} // namespace ingot
