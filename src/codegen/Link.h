// From an object file to a shared library, inside the process.
#pragma once

#include "base/Result.h"

#include <string>
#include <vector>

namespace ingot::codegen {

/// Links the object files with the C mathematics library, the only one that they may need. May be called from several
/// threads; they take turns.
Result<std::string> linkSharedLibrary(const std::vector<std::string> &objects);

} // namespace ingot::codegen
