// Enumerations of exported programs by PyTorch's names for them.
#pragma once

#include "pt2/Graph.h"

#include <string>
#include <string_view>

namespace ingot::pt2 {

std::string_view layoutName(Layout layout);             ///< "strided"
std::string_view memoryFormatName(MemoryFormat format); ///< "channels_last"
std::string deviceText(const Device &device);           ///< "cuda:1"

} // namespace ingot::pt2
