#include "passes/functionalise/Passes.h"

#include "mlir/Pass/PassRegistry.h"

namespace ingot {

void registerFunctionalisePasses() {
  mlir::registerPass(createInlineRegionsPass);
  mlir::registerPass(createDropAssertsPass);
  mlir::registerPass(createFunctionalisePass);
}

} // namespace ingot
