#include "base/Message.h"

namespace ingot {
namespace {

constexpr size_t kLongest = size_t(64) << 10;
constexpr size_t kEnd = 1024; ///< of a longer text: notes stand there

bool isShown(char32_t c) {
  if (c == '\n' || c == '\t')
    return true;
  const bool isControl = c < ' ' || (c >= 0x7f && c < 0xa0);
  const bool turnsText = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !isControl && !turnsText;
}

/// How many bytes the character at the front has; 0 if it is no UTF-8 or not to be shown.
size_t shownLength(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const size_t length = first < 0x80   ? 1
                        : first < 0xc0 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf8 ? 4
                                       : 0;
  if (length == 0 || length > text.size())
    return 0;
  char32_t c = length == 1 ? first : first & (0x7f >> length);
  for (const char next : text.substr(1, length - 1)) {
    if ((static_cast<unsigned char>(next) & 0xc0) != 0x80)
      return 0;
    c = (c << 6) | (static_cast<unsigned char>(next) & 0x3f);
  }
  static constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000}; // a longer form of a small one hides it
  const bool isCharacter = c >= smallest[length] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
  return isCharacter && isShown(c) ? length : 0;
}

} // namespace

std::string plainText(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const size_t length = shownLength(text);
    plain += length ? text.substr(0, length) : "?";
    text.remove_prefix(length ? length : 1);
  }
  return plain;
}

std::string messageText(std::string_view text) {
  if (text.size() <= kLongest)
    return plainText(text);
  return plainText(text.substr(0, kLongest - kEnd)) + "... (" + std::to_string(text.size() - kLongest) +
         " bytes left out) ..." + plainText(text.substr(text.size() - kEnd));
}

} // namespace ingot
