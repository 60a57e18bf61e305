// Texts for people that quote files nobody trusts.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

/// `text` without control characters except line ends and tabs, which could drive a terminal, and with its middle left
/// out where it is longer than any message has to be.
std::string messageText(std::string_view text);

} // namespace ingot
