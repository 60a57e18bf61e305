// Texts for people that quote files nobody trusts.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

/// `text` as valid UTF-8, without control characters except line ends and tabs, which could drive a terminal, and without
/// those that reverse the direction of text.
std::string plainText(std::string_view text);

/// The same with its middle left out where it is longer than any message has to be.
std::string messageText(std::string_view text);

} // namespace ingot
