// A name for this kind of CPU: the folder in an asset's cache that code compiled here is kept in.
#pragma once

#include <string>

namespace ingot {

/// "x86-64-v4-1f3a…": the level a person knows, then a hash of everything a compiler may ask the CPU for.
/// Machines with the same key run each other's code.
const std::string &cpuKey();

} // namespace ingot
