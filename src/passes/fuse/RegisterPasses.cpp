#include "passes/fuse/Passes.h"

namespace ingot {

void registerFusePasses() { registerIngotFusePasses(); }

} // namespace ingot
