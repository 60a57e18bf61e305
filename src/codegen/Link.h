// From an object file to a shared library, inside the process.
#pragma once

#include "base/Result.h"

#include <string>
#include <vector>

namespace ingot::codegen {

/// Where the object files come from, which decides whose mistake it is if they do not link.
enum class LinkKind {
  Clusters, ///< our own code alone: may need the C mathematics library
  UserCode, ///< also kernels that the user has written: may need the C++ runtime as well
};

/// Links object files with the libraries that this process has. May be called from several threads; they take turns.
Result<std::string> linkSharedLibrary(const std::vector<std::string> &objects, LinkKind kind = LinkKind::Clusters);

} // namespace ingot::codegen
