// Converted programs that are not saved yet: CompilerProgramApi.
#pragma once

#include "pipeline/Pipeline.h"
#include "pt2/Archive.h"
#include "runtime/CompilerApi.h"

#include <span>
#include <vector>

namespace ingot {

extern const CompilerProgramApi kProgramApi;

/// Released with CompilerProgramApi::free.
CompilerProgram *makeProgram(Converted converted);

std::vector<pt2::MemoryWeight> memoryWeights(std::span<const CompilerWeight> weights);

} // namespace ingot
