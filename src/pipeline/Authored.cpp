#include "pipeline/Authored.h"

#include "pipeline/Modules.h"
#include "pipeline/PassRunner.h"

using namespace mlir;

namespace ingot {

Result<Converted> convertAuthored(ModuleOp module, const PipelineOptions &options) {
  INGOT_CHECK(checkOptions(options));
  OwningOpRef<ModuleOp> copy = module.clone();
  INGOT_CHECK(runPhase(Phase::Optimise, *copy, options));
  return finishModule(*copy, WeightTable());
}

} // namespace ingot
