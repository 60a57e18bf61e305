#include "base/Message.h"

namespace ingot {
namespace {

constexpr size_t kLongest = size_t(64) << 10;
constexpr size_t kEnd = 1024; ///< of a longer text: notes stand there

void appendPlain(std::string &target, std::string_view text) {
  for (char c : text) {
    const bool isControl = static_cast<unsigned char>(c) < ' ' || c == 0x7f;
    target += isControl && c != '\n' && c != '\t' ? '?' : c;
  }
}

} // namespace

std::string messageText(std::string_view text) {
  std::string plain;
  if (text.size() <= kLongest) {
    appendPlain(plain, text);
    return plain;
  }
  const size_t start = kLongest - kEnd;
  appendPlain(plain, text.substr(0, start));
  plain += "... (" + std::to_string(text.size() - kLongest) + " bytes left out) ...";
  appendPlain(plain, text.substr(text.size() - kEnd));
  return plain;
}

} // namespace ingot
