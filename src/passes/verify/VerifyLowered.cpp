#include "dialect/Conventions.h"
#include "lower/Report.h"
#include "passes/Passes.h"

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_VERIFYLOWEREDPASS
#include "passes/Passes.h.inc"

namespace {

struct VerifyLoweredPass : impl::VerifyLoweredPassBase<VerifyLoweredPass> {
  void runOnOperation() override {
    std::vector<lower::LeftOver> left =
        lower::collectLeftOvers(getOperation(), getOperation()->hasAttr(attr::kFallback));
    if (left.empty())
      return;
    emitError(UnknownLoc::get(&getContext()), lower::formatLeftOvers(left));
    signalPassFailure();
  }
};

} // namespace
} // namespace ingot
