// The files of html/, which the build puts into the binary.
#pragma once

#include <string>
#include <string_view>

namespace ingot::graph {

/// The frame, with marks where the others go.
std::string_view pageFrame();
std::string_view pageStyle();
/// All scripts, in the order in which they run.
std::string pageScript();

} // namespace ingot::graph
